package machine

import (
	"io/fs"
	"path"
	"time"

	"mvdan.cc/sh/v3/interp"
)

// base holds the files that every machine has. It is shared and never changed: a machine's table lies over it.
var base map[string]*node

// The table of commands names functions that look files up, so the compiler can't order the two by itself.
func init() {
	commands = allCommands()
	base = baseFiles()
}

func baseFiles() map[string]*node {
	made := time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)
	files := map[string]*node{}
	directory := func(name string, mode fs.FileMode) {
		for ; files[name] == nil; name = path.Dir(name) {
			files[name] = &node{mode: fs.ModeDir | mode, modified: made}
			mode = 0o755
		}
	}
	file := func(name string, mode fs.FileMode, text string) {
		directory(path.Dir(name), 0o755)
		files[name] = &node{mode: mode, data: []byte(text)[:len(text):len(text)], modified: made}
	}
	for _, name := range []string{
		"/", "/etc", "/etc/systemd/system", "/home/ubuntu", "/mnt", "/opt", "/proc", "/run", "/srv", "/usr/local/bin",
		"/usr/bin", "/usr/sbin", "/usr/share", "/bin", "/sbin", "/var/lib", "/var/log", "/dev",
	} {
		directory(name, 0o755)
	}
	directory("/root", 0o700)
	directory("/tmp", 0o777)
	directory("/var/tmp", 0o777)
	directory("/workspace", 0o777)
	file("/etc/os-release", 0o644, "ID=fake\nNAME=\"Fake Linux\"\nVERSION_ID=\"1\"\nPRETTY_NAME=\"Fake Linux 1\"\n")
	file("/etc/passwd", 0o644, "root:x:0:0:root:/root:/bin/bash\nubuntu:x:1000:1000::/home/ubuntu:/bin/bash\n")
	file("/etc/group", 0o644, "root:x:0:\nubuntu:x:1000:\n")
	file("/proc/version", 0o444, kernel+"\n")
	for name := range devices {
		files[name] = &node{mode: fs.ModeDevice | fs.ModeCharDevice | 0o666, modified: made}
	}
	for name := range commands {
		file("/usr/bin/"+name, 0o755, stub)
		file("/bin/"+name, 0o755, stub)
	}
	for _, name := range []string{"echo", "printf", "test", "[", "true", "false"} {
		file("/usr/bin/"+name, 0o755, stub)
		file("/bin/"+name, 0o755, stub)
	}
	return files
}

// stub is the content of a command that is part of this program; the marker tells it from a script that a user put there.
const stub = "\x7fELF fake\n"

// alone tells whether a builtin of the shell can also be started without one, as a program.
func alone(name string) bool {
	_, stands := base["/usr/bin/"+name]
	return stands || !interp.IsBuiltin(name)
}
