// SPDX-License-Identifier: BSD-2-Clause
/* Paths of cgroups as the runtimes make them, with both drivers. */
#include "unit.h"

#include <core/cgroup_name.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "2f48913c-b29f-11e7-9350-020968147796"
#define POD_ "2f48913c_b29f_11e7_9350_020968147796"
#define BURSTABLE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_ ".slice"

static const struct {
	const char *path, *unit, *container, *runtime, *pod;
} table[] = {
	{ "/", "", "", "", "" },
	{ "", "", "", "", "" },
	{ "/init.scope", "init.scope", "", "", "" },
	{ "/system.slice", "", "", "", "" },
	{ "/system.slice/nginx.service", "nginx.service", "", "", "" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "", "", "" },
	{ "/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-a.service", "app-a.service",
	  "", "", "" },
	/* docker */
	{ "/system.slice/docker-" ID ".scope", "", ID, "docker", "" },
	{ "/system.slice/docker-" ID ".scope/inner", "", ID, "docker", "" },
	{ "/docker/" ID, "", ID, "docker", "" },
	{ "/system.slice/docker.service", "docker.service", "", "", "" },
	{ "/system.slice/docker-0123.scope", "docker-0123.scope", "", "", "" },
	/* a container that runs systemd */
	{ "/docker/" ID "/system.slice/cron.service", "cron.service", ID, "docker", "" },
	/* Kubernetes: the systemd driver */
	{ BURSTABLE "/cri-containerd-" ID ".scope", "", ID, "containerd", POD },
	{ BURSTABLE "/crio-" ID ".scope", "", ID, "cri-o", POD },
	{ BURSTABLE "/crio-" ID ".scope/container", "", ID, "cri-o", POD },
	{ BURSTABLE "/docker-" ID ".scope", "", ID, "docker", POD },
	{ BURSTABLE, "", "", "", POD },
	{ "/kubepods.slice/kubepods-pod" POD_ ".slice/cri-containerd-" ID ".scope", "", ID,
	  "containerd", POD },
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
	  "kubelet-kubepods-besteffort-pod" POD_ ".slice/cri-containerd-" ID ".scope",
	  "", ID, "containerd", POD },
	{ "/system.slice/containerd.service/kubepods-besteffort-pod" POD_
	  ".slice:cri-containerd:" ID,
	  "containerd.service", ID, "containerd", POD },
	{ "/kubepods.slice", "", "", "", "" },
	/* Kubernetes: cgroupfs */
	{ "/kubepods/burstable/pod" POD "/" ID, "", ID, "containerd", POD },
	{ "/kubepods/pod" POD "/" ID, "", ID, "containerd", POD },
	{ "/kubepods/besteffort/pod" POD "/crio-" ID, "", ID, "cri-o", POD },
	{ "/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" ID, "", ID, "containerd",
	  "0123456789abcdef0123456789abcdef" },
	/* nerdctl */
	{ "/system.slice/nerdctl-" ID ".scope", "", ID, "containerd", "" },
	{ "/default/" ID, "", ID, "containerd", "" },
	/* podman */
	{ "/machine.slice/libpod-" ID ".scope", "", ID, "podman", "" },
	{ "/machine.slice/libpod-" ID ".scope/container", "", ID, "podman", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
	  "user@1000.service", ID, "podman", "" },
	{ "/machine.slice/machine-libpod_pod_" ID ".slice/libpod-" ID ".scope", "", ID, "podman",
	  ID },
	{ "/libpod_parent/libpod-" ID, "", ID, "podman", "" },
	{ "/system.slice/web.service/libpod-payload-" ID, "web.service", ID, "podman", "" },
	{ "/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope", "", "", "" },
	/* nspawn, QEMU */
	{ "/machine.slice/systemd-nspawn@build.service/payload", "systemd-nspawn@build.service",
	  "build", "nspawn", "" },
	{ "/machine.slice/machine-a\\x2db.scope", "machine-a\\x2db.scope", "a-b", "nspawn", "" },
	{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", "machine-qemu\\x2d1\\x2dvm.scope",
	  "qemu-1-vm", "qemu", "" },
	/* LXC, LXD, Incus */
	{ "/lxc/web", "", "web", "lxc", "" },
	{ "/lxc.payload/web", "", "web", "lxc", "" },
	{ "/lxc.payload.web/system.slice/cron.service", "cron.service", "web", "lxc", "" },
	{ "/lxc.monitor.web", "", "", "", "" },
	/* what only looks like one of them */
	{ "/docker/0123", "", "", "", "" },
	{ "/lxc.payload.", "", "", "", "" },
	{ "/pods/podcast", "", "", "", "" },
	{ "/a-podium.slice", "", "", "", "" },
	{ "//system.slice//a.service/", "a.service", "", "", "" },
	{ "/\\x", "", "", "", "" },
	{ "/machine-\\x2.scope", "machine-\\x2.scope", "\\x2", "nspawn", "" },
};

TEST(test_paths_of_the_runtimes)
{
	struct cgroup_name name;

	for (size_t i = 0; i < COUNT_OF(table); i++) {
		cgroup_name__parse(&name, table[i].path);
		if (strcmp(name.unit, table[i].unit) ||
		    strcmp(name.container, table[i].container) ||
		    strcmp(name.runtime, table[i].runtime) || strcmp(name.pod, table[i].pod))
			fail_msg("%s: unit '%s' container '%s' runtime '%s' pod '%s'",
				 table[i].path, name.unit, name.container, name.runtime, name.pod);
	}
}

TEST(test_long_names_are_cut)
{
	char path[4096];
	struct cgroup_name name;

	memset(path, 'a', sizeof(path));
	memcpy(path, "/lxc/", 5);
	strcpy(path + sizeof(path) - 9, ".service");
	cgroup_name__parse(&name, path);
	assert_int_equal(strlen(name.container), CGROUP_NAME - 1);
	path[1] = 'b';
	cgroup_name__parse(&name, path);
	assert_int_equal(strlen(name.unit), CGROUP_NAME - 1);
}
