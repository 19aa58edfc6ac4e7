/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the path of a cgroup says: the unit of systemd, the container, the pod. Knows what systemd,
 * docker, containerd (Kubernetes, nerdctl), CRI-O, podman, nspawn and LXC make, with the systemd
 * and with the cgroupfs driver. It is only text: nothing is asked of any of them.
 */
#ifndef LATSCOPE_CORE_CGROUP_NAME_H
#define LATSCOPE_CORE_CGROUP_NAME_H

#define CGROUP_NAME 128

/* Empty: the path does not say. */
struct cgroup_name {
	char unit[CGROUP_NAME]; /* "nginx.service"; the innermost */
	char container[CGROUP_NAME]; /* 64 hexadecimal digits, or a name */
	char runtime[16]; /* "docker", "containerd", "cri-o", "podman", "nspawn", "lxc", "qemu" */
	char pod[CGROUP_NAME]; /* UID of Kubernetes with '-', or the ID of a pod of podman */
};

/* The path below the mount, "/system.slice/nginx.service". */
void cgroup_name__parse(struct cgroup_name *name, const char *path);

#endif
