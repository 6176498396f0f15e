/* test-trust.c - files and folders that only root or the user could have written. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/trust.h"

#define OTHER 54321 /* some user that is neither root nor us */

static char dir[] = "/tmp/pawl-trust-XXXXXX";

static const char *at(const char *name)
{
	static char path[4][128];
	static unsigned turn;
	char *buf = path[turn++ % 4];
	snprintf(buf, sizeof(path[0]), "%s/%s", dir, name);
	return buf;
}

static void make_file(const char *name, mode_t mode, const char *text)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void make_dir(const char *name, mode_t mode)
{
	assert_int_equal(mkdir(at(name), 0700), 0);
	assert_int_equal(chmod(at(name), mode), 0);
}

/* What the message must hold: the rule and its mend. */
static void refused(const char *name, int code, const char *rule, const char *mend)
{
	struct error err = {""};
	int fd = -1;
	int r = trust_open(at(name), 100, &fd, NULL, &err);
	assert_int_equal(r, code);
	assert_int_equal(fd, -1);
	assert_int_equal(strncmp(err.text, at(name), strlen(at(name))), 0);
	if (!strstr(err.text, rule) || !strstr(err.text, mend))
		fail_msg("%s: \"%s\" lacks \"%s\" or \"%s\"", name, err.text, rule, mend);
}

static void test_own_file_opens(void **state)
{
	(void)state;
	struct error err;
	bool system = geteuid() != 0;
	_cleanup_close_ int fd = -1;
	make_file("good", 0644, "x");
	assert_int_equal(trust_open(at("good"), 100, &fd, &system, &err), 0);
	assert_int_equal(system, geteuid() == 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void test_modes_are_refused(void **state)
{
	(void)state;
	static const struct {
		mode_t mode;
		const char *rule, *mend;
	} cases[] = {
		{0664, "its group (mode 0664)", "chmod go-w"},
		{0646, "everybody (mode 0646)", "chmod go-w"},
		{0666, "everybody", "chmod go-w"},
		{04755, "set-id", "chmod ug-s"},
		{02755, "set-id", "chmod ug-s"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_file("mode", cases[i].mode, "x");
		refused("mode", -EPERM, cases[i].rule, cases[i].mend);
	}
}

/* An ACL as the kernel keeps it: what its mask allows shows in the group's bits. */
static void test_acl_is_refused(void **state)
{
	static const struct {
		uint32_t version;
		struct {
			uint16_t tag, perm;
			uint32_t id;
		} entries[5];
	} acl = {2, {{1, 6, UINT32_MAX}, {2, 6, OTHER}, {4, 4, UINT32_MAX}, {16, 6, UINT32_MAX},
		     {32, 4, UINT32_MAX}}};
	struct error err;
	int fd = -1;
	(void)state;
	make_file("acl", 0644, "x");
	if (setxattr(at("acl"), "system.posix_acl_access", &acl, sizeof(acl), 0) != 0) {
		print_message("# no ACLs on /tmp: nothing tried\n");
		return;
	}
	refused("acl", -EPERM, "whom its ACL names (mode 0664)", "chmod go-w");
	assert_int_equal(chmod(at("acl"), 0644), 0);
	assert_int_equal(trust_open(at("acl"), 100, &fd, NULL, &err), 0);
	close(fd);
}

static void test_other_kinds_are_refused(void **state)
{
	(void)state;
	refused("missing", -ENOENT, "does not exist", "");
	make_dir("folder", 0755);
	refused("folder", -EISDIR, "is a folder", "name the file in it");
	assert_int_equal(mkfifo(at("fifo"), 0600), 0);
	refused("fifo", -EINVAL, "no regular file", "put a file there");
	make_file("target", 0644, "x");
	assert_int_equal(symlink("target", at("link")), 0);
	refused("link", -ELOOP, "symbolic link", "name the file it points to");
	assert_int_equal(symlink("nowhere", at("dangling")), 0);
	refused("dangling", -ELOOP, "symbolic link", "name the file it points to");

	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	_cleanup_close_ int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(sun.sun_path, at("sock"));
	assert_int_equal(bind(s, (struct sockaddr *)&sun, sizeof(sun)), 0);
	refused("sock", -ENXIO, "cannot be opened", "");
}

static void test_large_file_is_refused(void **state)
{
	(void)state;
	struct error err;
	int fd = -1;
	make_file("large", 0600, "0123456789");
	assert_int_equal(trust_open(at("large"), 9, &fd, NULL, &err), -EFBIG);
	assert_non_null(strstr(err.text, "10 bytes, more than the 9"));
	assert_int_equal(trust_open(at("large"), 10, &fd, NULL, &err), 0);
	close(fd);
}

static bool are_root(const char *test)
{
	if (geteuid() == 0)
		return true;
	print_message("# %s needs root to give files away: nothing tried\n", test);
	return false;
}

static void test_other_owners_are_refused(void **state)
{
	(void)state;
	if (!are_root(__func__))
		return;
	make_file("theirs", 0644, "x");
	assert_int_equal(chown(at("theirs"), OTHER, OTHER), 0);
	refused("theirs", -EPERM, "belongs to user 54321, not to root", "chown root");

	/* and seen by a user: root's and one's own are fine, a third one's is not */
	make_file("third", 0644, "x");
	assert_int_equal(chown(at("third"), OTHER + 1, OTHER), 0);
	make_file("roots", 0644, "x");
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(seteuid(OTHER), 0);
	bool system = true;
	int fd = -1, r = trust_open(at("theirs"), 100, &fd, &system, NULL);
	bool mine_system = system;
	struct error err = {""};
	int third = trust_open(at("third"), 100, &fd, NULL, &err);
	int roots = trust_open(at("roots"), 100, &fd, &system, NULL);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, 0);
	assert_false(mine_system);
	assert_int_equal(third, -EPERM);
	assert_non_null(strstr(err.text, "neither to root nor to you (54321)"));
	assert_int_equal(roots, 0);
	assert_true(system);
}

static void test_folders_are_checked_to_the_root(void **state)
{
	(void)state;
	struct error err = {""};
	bool system = geteuid() != 0;
	make_dir("a", 0755);
	make_dir("a/b", 0755);
	make_dir("a/b/c", 0755);
	assert_int_equal(trust_folders(at("a/b/c"), &system, &err), 0);
	assert_int_equal(system, geteuid() == 0);
	assert_int_equal(trust_folders(at("a//b/../b/./c/"), NULL, &err), 0);

	assert_int_equal(chmod(at("a"), 0775), 0);
	assert_int_equal(trust_folders(at("a/b/c"), NULL, &err), -EPERM);
	assert_non_null(strstr(err.text, "/a: the folder can be written by its group"));
	assert_non_null(strstr(err.text, "chmod go-w"));
	assert_null(strstr(err.text, "/a/b"));
	assert_int_equal(chmod(at("a"), 01777), 0);
	assert_int_equal(trust_folders(at("a/b/c"), NULL, &err), 0);
	assert_int_equal(chmod(at("a"), 0755), 0);

	assert_int_equal(trust_folders(at("a/none/c"), NULL, &err), -ENOENT);
	make_file("a/file", 0644, "");
	assert_int_equal(trust_folders(at("a/file/c"), NULL, &err), -ENOTDIR);
	assert_int_equal(trust_folders("a/b", NULL, &err), -EINVAL);
}

static void test_links_on_the_way_are_followed_and_checked(void **state)
{
	(void)state;
	struct error err = {""};
	make_dir("l", 0755);
	make_dir("l/real", 0755);
	make_dir("l/open", 0777);
	make_dir("l/open/in", 0755);
	assert_int_equal(symlink("real", at("l/near")), 0);
	assert_int_equal(symlink(at("l/real"), at("l/far")), 0);
	assert_int_equal(symlink("../l/open/in", at("l/through")), 0);
	assert_int_equal(symlink("round", at("l/round")), 0);
	assert_int_equal(trust_folders(at("l/near"), NULL, &err), 0);
	assert_int_equal(trust_folders(at("l/near/."), NULL, &err), 0);
	assert_int_equal(trust_folders(at("l/far"), NULL, &err), 0);
	assert_int_equal(trust_folders(at("l/through"), NULL, &err), -EPERM);
	assert_non_null(strstr(err.text, "/open: the folder can be written by everybody"));
	assert_int_equal(trust_folders(at("l/round"), NULL, &err), -ELOOP);
}

static void test_folders_of_others_are_refused(void **state)
{
	(void)state;
	struct error err = {""};
	if (!are_root(__func__))
		return;
	make_dir("o", 01777);
	make_dir("o/theirs", 0755);
	make_dir("o/theirs/mine", 0755);
	assert_int_equal(chown(at("o/theirs"), OTHER, OTHER), 0);
	assert_int_equal(trust_folders(at("o/theirs/mine"), NULL, &err), -EPERM);
	assert_non_null(
		strstr(err.text, "/o/theirs: the folder belongs to user 54321, not to root"));
	assert_int_equal(symlink("theirs/mine", at("o/link")), 0);
	assert_int_equal(lchown(at("o/link"), OTHER, OTHER), 0);
	assert_int_equal(trust_folders(at("o/link"), NULL, &err), -EPERM);
	assert_non_null(strstr(err.text, "the symbolic link belongs to user 54321"));
}

static int make_place(void **state)
{
	(void)state;
	umask(022);
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_place(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_file_opens),
		cmocka_unit_test(test_modes_are_refused),
		cmocka_unit_test(test_acl_is_refused),
		cmocka_unit_test(test_other_kinds_are_refused),
		cmocka_unit_test(test_large_file_is_refused),
		cmocka_unit_test(test_other_owners_are_refused),
		cmocka_unit_test(test_folders_are_checked_to_the_root),
		cmocka_unit_test(test_links_on_the_way_are_followed_and_checked),
		cmocka_unit_test(test_folders_of_others_are_refused),
	};
	struct error err;
	if (trust_folders("/tmp", NULL, &err) < 0) {
		printf("1..0 # SKIP %s\n", err.text);
		return 0;
	}
	return cmocka_run_group_tests(tests, make_place, remove_place);
}
