package machine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

func run(t *testing.T, m *machine.Machine, argv ...string) (code int, out, errs string) {
	t.Helper()
	var o, e strings.Builder
	code, err := m.Exec(context.Background(), machine.Command{Argv: argv, Stdout: &o, Stderr: &e})
	if err != nil {
		t.Fatalf("Exec(%q): %v", argv, err)
	}
	return code, o.String(), e.String()
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script    string
		code      int
		out, errs string
	}{
		"uname":              {"uname", 0, "Linux\n", ""},
		"exit":               {"echo before; exit 3; echo after", 3, "before\n", ""},
		"not found":          {"foo", 127, "", "bash: foo: command not found\n"},
		"redirect":           {"echo one > f; echo two >> f; cat f", 0, "one\ntwo\n", ""},
		"pipe":               {"printf 'b\\na\\nb\\n' | sort | uniq -c", 0, "      1 a\n      2 b\n", ""},
		"here-document":      {"cat <<E\nhello $((1+2))\nE", 0, "hello 3\n", ""},
		"loop":               {"for i in 1 2 3; do echo -n $i; done", 0, "123", ""},
		"read from file":     {"printf 'x\\ny\\n' > f; while read l; do echo \"<$l>\"; done < f", 0, "<x>\n<y>\n", ""},
		"set -e":             {"set -e; false; echo no", 1, "", ""},
		"pipefail":           {"set -o pipefail; false | true", 1, "", ""},
		"sub":                {"echo $(echo $(hostname))", 0, "vm-1\n", ""},
		"whoami":             {"whoami; id -u; echo $HOME $UID", 0, "root\n0\n/root 0\n", ""},
		"sudo user":          {"sudo -u ubuntu whoami; sudo -u ubuntu bash -c 'echo $HOME'", 0, "ubuntu\n/home/ubuntu\n", ""},
		"su":                 {"su -s /bin/sh -c 'whoami; echo \"$1\"' ubuntu", 0, "ubuntu\n\n", ""},
		"stderr":             {"echo oops >&2; cat none", 1, "", "oops\ncat: cannot open 'none': No such file or directory\n"},
		"glob":               {"mkdir -p a/b; touch a/1.c a/2.c; echo a/*.c", 0, "a/1.c a/2.c\n", ""},
		"tests":              {"touch f; [ -f f ] && [ ! -d f ] && [[ -e f && ! -x f ]] && [ -O f ] && echo yes", 0, "yes\n", ""},
		"chmod and run":      {"printf '#!/bin/sh\\necho ran $1\\n' > s; ./s; chmod +x s; ./s x; chmod 600 s; stat -c %a s", 0, "ran x\n600\n", "bash: ./s: Permission denied\n"},
		"functions":          {"f() { echo \"f $1\"; }; f a; type f; command -v f", 0, "f a\nf is a shell function\nf\n", ""},
		"command -v":         {"command -v cat docker; echo $?", 0, "/usr/bin/cat\n1\n", ""},
		"type":               {"type cat; type none", 1, "cat is /usr/bin/cat\n", "bash: none: not found\n"},
		"source":             {"echo 'v=7; return 0' > lib; . ./lib; echo $v; cd /; source /root/lib a; echo $v", 0, "7\n7\n", ""},
		"links":              {"mkdir d; echo in > d/f; ln -s d l; cat l/f; readlink l; cd l; pwd; pwd -P", 0, "in\nd\n/root/l\n/root/d\n", ""},
		"copy and move":      {"mkdir d; echo 1 > d/f; cp -r d e; mv d/f g; ls d e; cat g", 0, "d:\ne:\nf\n1\n", ""},
		"rm":                 {"mkdir d; rm d; rm -rf d none; ls", 0, "", "rm: cannot remove 'd': Is a directory\n"},
		"systemctl":          {"systemctl is-active x; systemctl enable --now x; systemctl restart x; systemctl is-active x.service", 0, "inactive\nactive\n", ""},
		"apt-get":            {"apt-get update -q && apt-get install -y curl && echo done", 0, "done\n", ""},
		"background":         {"(echo later > f) & wait; cat f", 0, "later\n", ""},
		"process substitute": {"cat <(echo no)", 0, "", "cannot create fifo: not a directory\n"},
		"exit trap":          {"trap 'echo bye' EXIT; true & echo hi", 0, "hi\nbye\n", ""},
		"syntax":             {"if true", 2, "", "bash:1:1: `if <cond>` must be followed by `then`\n"},
		"env":                {"A=1 env | grep ^A=; export B=2; sh -c 'echo $B'", 0, "A=1\n2\n", ""},
		"text":               {"echo hello | tr a-z A-Z | cut -c 1-3; seq 5 | tail -n 2; seq 5 | head -1; echo a:b | cut -d: -f2", 0, "HEL\n4\n5\n1\nb\n", ""},
		"sums":               {"echo -n abc | sha256sum | head -c 8; echo abc | base64 | base64 -d", 0, "ba7816bfabc\n", ""},
		"grep":               {"seq 3 | grep -v 2; echo x | grep -q y || echo none", 0, "1\n3\nnone\n", ""},
		"xargs":              {"echo a b | xargs -n 1 echo got", 0, "got a\ngot b\n", ""},
		"timeout":            {"timeout 0.01 sleep 60; echo $?; timeout 60 echo ok", 0, "124\nok\n", ""},
		"recursion":          {"f() { f; }; f", 1, "", "sh: f: maximum function nesting level exceeded\n"},
		"kill":               {"kill -0 42", 1, "", "kill: (42) - No such process\n"},
		"temporary":          {"t=$(mktemp); echo x > $t; cat $t; case $t in /tmp/*) echo in tmp;; esac; echo \"[$TMPDIR]\"", 0, "x\nin tmp\n[]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := machine.New("vm-1", nil)
			defer m.Close()
			code, out, errs := run(t, m, "sudo", "bash", "-c", test.script)
			if code != test.code || out != test.out || errs != test.errs {
				t.Errorf("%s\ngot  %d %q %q\nwant %d %q %q", test.script, code, out, errs, test.code, test.out, test.errs)
			}
		})
	}
}
