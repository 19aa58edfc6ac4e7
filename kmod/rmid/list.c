// SPDX-License-Identifier: GPL-2.0-only
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "adopt.h"
#include "cpu.h"
#include "list.h"
#include "owners.h"
#include "pqr.h"
#include "read.h"

/* Position 0 is the head of the file, position n + 1 the process at place n. */
static void *at(loff_t *pos)
{
	return *pos <= owners__places() ? pos : NULL;
}

static void *list_start(struct seq_file *file, loff_t *pos)
{
	return at(pos);
}

static void *list_next(struct seq_file *file, void *element, loff_t *pos)
{
	struct rmid_process unused;

	do {
		++*pos;
	} while (*pos && *pos <= owners__places() && !owners__get(*pos - 1, &unused));
	return at(pos);
}

static void list_stop(struct seq_file *file, void *element)
{
}

static void show_head(struct seq_file *file)
{
	struct owners_totals owners;
	struct cpu_totals cpus;
	struct read_totals reads;

	owners__totals(&owners);
	cpu__totals(&cpus);
	read__totals(&reads);
	seq_printf(file, "version %u\n", LATSCOPE_RMID_VERSION);
	seq_printf(file, "rmids %u\n", owners.rmids);
	seq_printf(file, "limbo_ns %llu\n", owners.limbo_ns);
	seq_printf(file, "rdt %s\n", pqr__state());
	seq_printf(file, "l3_scale %u\n", reads.scale);
	seq_printf(file, "mbm %s\n", read__mbm());
	seq_printf(file, "assigned %u\n", owners.assigned);
	seq_printf(file, "waiting %u\n", owners.waiting);
	seq_printf(file, "allocs %llu\n", owners.counts.allocs);
	seq_printf(file, "frees %llu\n", owners.counts.frees);
	seq_printf(file, "refused %llu\n", owners.counts.refused);
	seq_printf(file, "late %llu\n", owners.counts.late);
	seq_printf(file, "untracked %llu\n", owners.counts.untracked);
	seq_printf(file, "miscounted %llu\n", owners.counts.miscounted);
	seq_printf(file, "ticks %llu\n", cpus.ticks);
	seq_printf(file, "ticks_late %llu\n", cpus.ticks_late);
	seq_printf(file, "reads %llu\n", reads.done);
	seq_printf(file, "reads_due %llu\n", reads.due);
	seq_printf(file, "pqr_writes %llu\n", pqr__write_count());
	seq_printf(file, "adoptions %u\n", adopt__count());
	seq_printf(file, "unsampled %*pbl\n", cpumask_pr_args(cpu__unsampled()));
	seq_putc(file, '\n');
}

static void show_process(struct seq_file *file, const struct rmid_process *process)
{
	char comm[LATSCOPE_RMID_COMM_LEN + 1] = {};

	memcpy(comm, process->comm, LATSCOPE_RMID_COMM_LEN);
	seq_printf(file, "%u %u %llu %u %llu ", process->rmid, process->tgid, process->start_ns,
		   process->threads, process->since_ns);
	seq_escape_mem(file, comm, strlen(comm), ESCAPE_OCTAL | ESCAPE_NAP | ESCAPE_APPEND, "\\");
	seq_putc(file, '\n');
}

static int list_show(struct seq_file *file, void *element)
{
	struct rmid_process process;
	loff_t pos = *(loff_t *)element;

	if (!pos)
		show_head(file);
	else if (owners__get(pos - 1, &process))
		show_process(file, &process);
	return 0;
}

static const struct seq_operations list_operations = {
	.start = list_start,
	.next = list_next,
	.stop = list_stop,
	.show = list_show,
};

static int list_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &list_operations);
}

static ssize_t list_write(struct file *file, const char __user *buffer, size_t size, loff_t *pos)
{
	static const char word[] = { 'd', 'u', 'm', 'p', '\n' };
	char written[sizeof(word)];

	if (size != sizeof(word) && size != sizeof(word) - 1)
		return -EINVAL;
	if (copy_from_user(written, buffer, size))
		return -EFAULT;
	if (memcmp(written, word, size))
		return -EINVAL;
	owners__dump();
	return size;
}

static const struct proc_ops list_proc_ops = {
	.proc_open = list_open,
	.proc_read = seq_read,
	.proc_write = list_write,
	.proc_lseek = seq_lseek,
	.proc_release = seq_release,
};

int list__init(void)
{
	return proc_create("latscope_rmid", 0600, NULL, &list_proc_ops) ? 0 : -ENOMEM;
}

void list__exit(void)
{
	remove_proc_entry("latscope_rmid", NULL);
}
