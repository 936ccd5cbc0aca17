package machine_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

func TestPlainCommands(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", nil)
	defer m.Close()
	for _, test := range []struct {
		argv      []string
		code      int
		out, errs string
	}{
		{[]string{"echo", "$HOME", "a  b", "*"}, 0, "$HOME a  b *\n", ""}, // no shell looks at the words
		{[]string{"printf", "opensandbox-ready"}, 0, "opensandbox-ready", ""},
		{[]string{"/bin/uname", "-n"}, 0, "vm-1\n", ""},
		{[]string{"/bin/echo", "$HOME", "a  b"}, 0, "$HOME a  b\n", ""},
		{[]string{"sh", "-c", "exec echo replaced; echo not"}, 0, "replaced\n", ""},
		{[]string{"sh", "-c", "/usr/bin/false || /bin/printf '%s' again"}, 0, "again", ""},
		{[]string{"cd", "/"}, 127, "", "cd: command not found\n"}, // the shell's own can't be started alone
		{[]string{"export", "A=b"}, 127, "", "export: command not found\n"},
		{[]string{"none", "x"}, 127, "", "sh: none: command not found\n"},
		{[]string{"/none"}, 127, "", "sh: /none: No such file or directory\n"},
		{[]string{"/etc"}, 126, "", "sh: /etc: Is a directory\n"},
		{[]string{"/etc/passwd"}, 126, "", "sh: /etc/passwd: Permission denied\n"},
		{[]string{"su", "-s", "/bin/sh", "-c", "whoami; pwd", "app"}, 0, "app\n/root\n", ""},
		{[]string{"sudo", "-u", "app", "id", "-un"}, 0, "app\n", ""},
		{[]string{"test", "-d", "/etc"}, 0, "", ""},
		{[]string{"false"}, 1, "", ""},
		{[]string{"exit"}, 127, "", "exit: command not found\n"},
		{nil, 127, "", ""},
	} {
		if code, out, errs := run(t, m, test.argv...); code != test.code || out != test.out || errs != test.errs {
			t.Errorf("%q: got %d %q %q, want %d %q %q", test.argv, code, out, errs, test.code, test.out, test.errs)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", map[string]string{"A": "machine", "B": "machine"})
	defer m.Close()
	var out strings.Builder
	code, err := m.Exec(t.Context(), machine.Command{
		Argv: []string{"sh", "-c", "echo $A $B $HOME $UID; whoami; pwd; cat"}, Env: map[string]string{"B": "command"},
		Dir: "/tmp", User: "1234", Stdin: strings.NewReader("typed"), Stdout: &out,
	})
	if want := "machine command /home/1234 1234\n1234\n/tmp\ntyped"; code != 0 || err != nil || out.String() != want {
		t.Errorf("%d %v %q, want %q", code, err, out.String(), want)
	}
	var errs strings.Builder
	if code, err := m.Exec(t.Context(), machine.Command{Argv: []string{"pwd"}, Dir: "/none", Stderr: &errs}); code != 126 || err != nil || errs.Len() == 0 {
		t.Errorf("a directory that isn't there: %d %v %q", code, err, errs.String())
	}
}

func TestTimeFollowsTheClock(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", nil, machine.WithClock(clock.NewInstant(start)))
	defer m.Close()
	code, out, _ := run(t, m, "sh", "-c", "date -u +%FT%TZ; sleep 1h; date +%s; date; sleep 0.5 1m; date -I; timeout 5 sleep 1d; echo $?")
	if want := "2026-03-01T12:00:00Z\n1772370000\nSun Mar  1 13:00:00 UTC 2026\n2026-03-01\n124\n"; code != 0 || out != want {
		t.Errorf("%d %q, want %q", code, out, want)
	}
}

func TestCancellation(t *testing.T) {
	t.Parallel()
	reason := errors.New("the reason")
	for name, script := range map[string]string{
		"sleep":         "echo started; sleep infinity",
		"loop":          "echo started; while true; do :; done",
		"pipe":          "echo started; sleep infinity | cat",
		"nested":        "echo started; sudo bash -c 'sleep infinity'",
		"endless":       "echo started; yes > /dev/null",
		"in background": "echo started; sleep infinity & wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, byClose := range []bool{false, true} {
				m := machine.New("vm-1", nil, machine.WithClock(clock.NewManual(start)))
				ctx, cancel := context.WithCancelCause(t.Context())
				end, want := func() { cancel(reason) }, reason
				if byClose {
					end, want = m.Close, machine.ErrOff
				}
				once := &onFirst{do: end}
				code, err := m.Exec(ctx, machine.Command{Argv: []string{"bash", "-c", script}, Stdout: once})
				if code != -1 || !errors.Is(err, want) {
					t.Errorf("by Close %v: %d %v", byClose, code, err)
				}
				cancel(nil)
				m.Close()
			}
		})
	}
}

// onFirst does something at the first write.
type onFirst struct{ do func() }

func (o *onFirst) Write(data []byte) (int, error) {
	if o.do != nil {
		o.do()
		o.do = nil
	}
	return len(data), nil
}

// TestBackground sees that a job outlives the command that has started it, as on a real machine, and ends with the machine.
func TestBackground(t *testing.T) {
	t.Parallel()
	c := clock.NewManual(start)
	m := machine.New("vm-1", nil, machine.WithClock(c))
	var out strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	script := "(sleep 5; echo late; echo up > /ready) & nohup sh -c 'sleep infinity' & echo now"
	if code, err := m.Exec(ctx, machine.Command{Argv: []string{"sudo", "bash", "-c", script}, Stdout: &out}); code != 0 || err != nil {
		t.Fatalf("%d %v", code, err)
	}
	cancel() // the request is over
	for len(c.Slept()) == 0 {
		if _, err := m.Exec(t.Context(), machine.Command{Argv: []string{"true"}}); err != nil { // lets others run, too
			t.Fatal(err)
		}
	}
	c.Advance(5 * time.Second)
	for ready := false; !ready; {
		_, err := m.ReadFile("/ready")
		ready = err == nil
	}
	m.Close()
	if out.String() != "now\n" {
		t.Errorf("the job wrote into what the caller has taken back: %q", out.String())
	}
	if _, err := m.Exec(t.Context(), machine.Command{Argv: []string{"true"}}); !errors.Is(err, machine.ErrOff) {
		t.Errorf("a command on a closed machine: %v", err)
	}
}

// TestNothingOfTheHost runs what would show or change the host.
func TestNothingOfTheHost(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", nil)
	defer m.Close()
	dir := t.TempDir()
	for _, script := range []string{
		"cat " + dir + "/../x", "ls " + dir, "cd " + dir, "echo x > " + dir + "/file", ". " + dir + "/lib", "source /proc/self/environ",
		"test -e " + dir, "[ -w " + dir + " ]", "$(command -v go) version", "type -P go", "hash -r; go version", "echo ~nobody/*x",
		"exec /usr/bin/env none", "cat /proc/self/environ", "command go version", "[[ " + dir + " -ef " + dir + " ]]", "mapfile < " + dir + "/x",
	} {
		if code, out, _ := run(t, m, "bash", "-c", script); code == 0 && script != "echo ~nobody/*x" {
			t.Errorf("%s: %d %q", script, code, out)
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", nil)
	defer m.Close()
	for script, want := range map[string]string{
		"mkdir":                "mkdir: missing operand\n",
		"mkdir /etc":           "mkdir: cannot create directory '/etc': File exists\n",
		"mkdir /a/b/c":         "mkdir: cannot create directory '/a/b/c': No such file or directory\n",
		"rmdir /etc":           "rmdir: cannot remove '/etc': Directory not empty\n",
		"cp /etc /tmp":         "cp: cannot copy '/etc': -r not specified; omitting directory\n",
		"cp -r /etc /etc/x":    "cp: cannot copy '/etc': Invalid argument\n",
		"mv /none /x":          "mv: cannot move '/none': No such file or directory\n",
		"chmod rwx /etc":       "chmod: invalid mode: 'rwx'\n",
		"chmod 600 /none":      "chmod: cannot access '/none': No such file or directory\n",
		"sleep x":              "sleep: invalid time interval 'x'\n",
		"grep '(' /etc/passwd": "grep: error parsing regexp: missing closing ): `(`\n",
		"grep x /none":         "grep: cannot open '/none': No such file or directory\n",
		"cut -f x":             "cut: invalid list 'x'\n",
		"seq a":                "seq: invalid integer argument: 'a'\n",
		"echo '?' | base64 -d": "base64: invalid input\n",
		"bash /none":           "bash: /none: No such file or directory\n",
		"find / -size 1":       "find: unknown predicate '-size'\n",
		"echo x > /none/y":     "open /none/y: no such file or directory\n",
		"sh -c":                "sh: -c: option requires an argument\n",
		"printf '#!/bin/python3\\n' > /p; chmod +x /p; /p": "bash: /p: /bin/python3: bad interpreter: No such file or directory\n",
	} {
		if code, _, errs := run(t, m, "bash", "-c", script); code == 0 || errs != want {
			t.Errorf("%s: %d %q, want %q", script, code, errs, want)
		}
	}
}

func BenchmarkExec(b *testing.B) {
	m := machine.New("vm-1", nil)
	defer m.Close()
	for b.Loop() {
		if _, err := m.Exec(b.Context(), machine.Command{Argv: []string{"sudo", "bash", "-c", "echo hello > /tmp/x; cat /tmp/x"}, Stdout: io.Discard}); err != nil {
			b.Fatal(err)
		}
	}
}
