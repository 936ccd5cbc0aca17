package machine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

func TestFiles(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", nil, machine.WithClock(clock.NewManual(start)))
	defer m.Close()
	if err := m.WriteFile("/srv/app/./x/../run.sh", machine.File{Data: []byte("echo hi $A"), Mode: 0o750, Owner: "app"}); err != nil {
		t.Fatal(err)
	}
	got, err := m.ReadFile("/srv/app/run.sh")
	if err != nil || string(got.Data) != "echo hi $A" || got.Mode != 0o750 || got.Owner != "app" || got.Group != "root" || !got.Modified.Equal(start) {
		t.Errorf("%+v %v", got, err)
	}
	if code, out, _ := run(t, m, "env", "A=b", "/srv/app/run.sh"); code != 0 || out != "hi b\n" {
		t.Errorf("%d %q", code, out)
	}
	run(t, m, "sh", "-c", "echo made > /tmp/made")
	if list := m.List(); !slices.Equal(list, []string{"/srv/app/run.sh", "/tmp/made"}) {
		t.Errorf("list: %v", list)
	}
	for _, test := range []struct {
		path string
		err  error
	}{{"/etc", syscall.EISDIR}, {"/srv/app/run.sh/x", syscall.ENOTDIR}, {"/", syscall.EISDIR}} {
		if err := m.WriteFile(test.path, machine.File{}); !errors.Is(err, test.err) {
			t.Errorf("write %s: %v, want %v", test.path, err, test.err)
		}
	}
	for _, path := range []string{"/none", "/srv/none/x"} {
		if _, err := m.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read %s: %v", path, err)
		}
		if err := m.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove %s: %v", path, err)
		}
	}
	if _, err := m.ReadFile("/etc"); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("read a directory: %v", err)
	}
	if err := m.Remove("/srv"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ReadFile("/srv/app/run.sh"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the removal: %v", err)
	}
	if err := m.Remove("/"); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("remove the root: %v", err)
	}
	if err := m.Remove("/etc/passwd"); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := run(t, m, "cat", "/etc/passwd"); code != 1 || !strings.Contains(errs, "No such file") {
		t.Errorf("a file that every machine has, removed: %d %q", code, errs)
	}
	if other := machine.New("vm-2", nil); other.Remove("/etc/passwd") != nil {
		t.Error("a removal on one machine reached another")
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", nil)
	defer m.Close()
	run(t, m, "sh", "-c", "ln -s b /a; ln -s a /b; mkdir /d; ln -s /d /e; ln -sf ../d/f /d/g; echo x > /e/g")
	if _, err := m.ReadFile("/a"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a loop: %v", err)
	}
	if got, err := m.ReadFile("/d/f"); err != nil || string(got.Data) != "x\n" {
		t.Errorf("through two links: %q %v", got.Data, err)
	}
	if err := m.Remove("/e"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ReadFile("/d/f"); err != nil {
		t.Errorf("removing a link must leave what it leads to: %v", err)
	}
}

func TestLstat(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", nil)
	defer m.Close()
	if code, _, errs := run(t, m, "sh", "-c", "mkdir /a; echo text > /a/file; ln -s file /a/link; ln -s /none /a/dangling"); code != 0 {
		t.Fatal(errs)
	}
	for name, want := range map[string]machine.File{
		"/a":          {Mode: fs.ModeDir | 0o755},
		"/a/file":     {Mode: 0o644, Data: []byte("text\n")},
		"/a/link":     {Mode: fs.ModeSymlink | 0o777, Data: []byte("file")},
		"/a/dangling": {Mode: fs.ModeSymlink | 0o777, Data: []byte("/none")},
	} {
		got, err := m.Lstat(name)
		if err != nil || got.Mode != want.Mode || string(got.Data) != string(want.Data) || got.Owner != "root" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := m.Lstat("/a/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := m.Lstat("/a/file/none"); !errors.Is(err, syscall.ENOTDIR) {
		t.Error(err)
	}
}

func TestClone(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", map[string]string{"A": "1"})
	defer m.Close()
	run(t, m, "sh", "-c", "for i in 1 2 3 4 5; do echo $i >> /log; done; rm /etc/passwd")
	other := m.Clone()
	other.SetHostname("vm-2")
	defer other.Close()
	run(t, m, "sh", "-c", "echo first >> /log")
	run(t, other, "sh", "-c", "echo second >> /log")
	_, one, _ := run(t, m, "tail", "-n", "1", "/log")
	_, two, _ := run(t, other, "sh", "-c", "tail -n 1 /log; hostname; echo $A; test -e /etc/passwd || echo gone")
	if one != "first\n" || two != "second\nvm-2\n1\ngone\n" {
		t.Errorf("%q %q", one, two)
	}
	m.Close()
	if code, _, _ := run(t, other, "true"); code != 0 {
		t.Error("a clone should live on without its origin")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", nil)
	defer m.Close()
	if err := m.WriteFile("/large", machine.File{Data: make([]byte, machine.MaxFileSize+1)}); !errors.Is(err, machine.ErrNoSpace) {
		t.Errorf("a file that is too large: %v", err)
	}
	block := make([]byte, machine.MaxFileSize)
	for i := range machine.MaxDiskSize / machine.MaxFileSize {
		if err := m.WriteFile(fmt.Sprint("/", i), machine.File{Data: block}); err != nil {
			t.Fatalf("file %d: %v", i, err)
		}
	}
	if err := m.WriteFile("/more", machine.File{Data: []byte("x")}); !errors.Is(err, machine.ErrNoSpace) {
		t.Errorf("a disk that is full: %v", err)
	}
	if code, _, errs := run(t, m, "cp", "/0", "/more"); code != 1 || !strings.Contains(errs, "No space left on device") {
		t.Errorf("cp to a full disk: %d %q", code, errs)
	}
	if err := m.Remove("/0"); err != nil {
		t.Fatal(err)
	}
	if err := m.WriteFile("/more", machine.File{Data: []byte("x")}); err != nil {
		t.Errorf("after a removal: %v", err)
	}
	small := machine.New("vm-2", nil)
	defer small.Close()
	var err error
	for i := 0; err == nil && i <= machine.MaxFileCount; i++ {
		err = small.WriteFile(fmt.Sprint("/", i), machine.File{})
	}
	if !errors.Is(err, machine.ErrNoSpace) {
		t.Errorf("too many files: %v", err)
	}
}

// TestConcurrency is for the race detector.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	m := machine.New("vm-1", nil)
	defer m.Close()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			var out bytes.Buffer
			script := fmt.Sprintf("for i in 1 2 3 4 5; do echo %d >> /log; cat /log | wc -l > /n%d; ls / > /dev/null; done", i, i)
			if _, err := m.Exec(t.Context(), machine.Command{Argv: []string{"sh", "-c", script}, Stdout: &out, Stderr: &out}); err != nil || out.Len() > 0 {
				t.Errorf("%v %s", err, &out)
			}
			m.Clone().List()
		})
	}
	all.Wait()
	if _, out, _ := run(t, m, "wc", "-l", "/log"); out != "40 /log\n" {
		t.Errorf("lines: %q", out)
	}
}
