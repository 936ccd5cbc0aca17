package machine

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
	"time"
)

const kernel = "Linux version 6.12.0-fake (fake) #1 SMP"

// pretended are commands whose work has no meaning on a machine that isn't real: they say nothing and succeed, so that
// scripts written for real machines run.
var pretended = []string{
	"apt", "apt-get", "chpasswd", "groupadd", "hostnamectl", "ldconfig", "locale-gen", "loginctl", "modprobe", "mount",
	"service", "swapoff", "swapon", "sync", "sysctl", "timedatectl", "udevadm", "ulimit", "umask", "umount",
	"update-ca-certificates", "useradd", "usermod", "xhost", "xrandr", "xset",
}

func systemCommands() map[string]command {
	all := map[string]command{
		"uname": runUname, "hostname": runHostname, "id": runID, "whoami": runWhoami, "date": runDate, "sleep": runSleep,
		"systemctl": runSystemctl, "kill": runKill, "pkill": runKill, "killall": runKill, "which": runWhich, "nproc": runNproc,
		"uptime": runUptime, "printenv": runPrintenv, "nvidia-smi": runNvidia, "ps": runPs, "df": runDf, "free": runFree,
	}
	for _, name := range pretended {
		all[name] = func(context.Context, *call) int { return 0 }
	}
	return all
}

func runUname(_ context.Context, c *call) int {
	flags, _ := c.options("")
	if has(flags, "a") {
		flags = map[string]string{"s": "", "n": "", "r": "", "v": "", "m": "", "o": ""}
	}
	var words []string
	for _, part := range [][2]string{{"n", c.shell.machine.hostname}, {"r", "6.12.0-fake"}, {"v", "#1 SMP"}, {"m", "x86_64"}, {"o", "GNU/Linux"}} {
		if has(flags, part[0]) {
			words = append(words, part[1])
		}
	}
	if len(words) == 0 || has(flags, "s") {
		words = append([]string{"Linux"}, words...)
	}
	fmt.Fprintln(c.out, strings.Join(words, " "))
	return 0
}

func runHostname(_ context.Context, c *call) int {
	fmt.Fprintln(c.out, c.shell.machine.hostname)
	return 0
}

func userID(user string) string { return userEnvironment(user)["UID"] }

func runID(_ context.Context, c *call) int {
	flags, names := c.options("")
	user := c.shell.user
	if len(names) > 0 {
		user = names[0]
	}
	uid := userID(user)
	switch {
	case has(flags, "n"):
		fmt.Fprintln(c.out, user)
	case has(flags, "u", "g"):
		fmt.Fprintln(c.out, uid)
	default:
		fmt.Fprintf(c.out, "uid=%s(%s) gid=%s(%s) groups=%s(%s)\n", uid, user, uid, user, uid, user)
	}
	return 0
}

func runWhoami(_ context.Context, c *call) int {
	fmt.Fprintln(c.out, c.shell.user)
	return 0
}

// runDate is date [-u] [-I] [+format], in UTC.
func runDate(_ context.Context, c *call) int {
	flags, words := c.options("d")
	now := c.shell.machine.clock.Now().UTC()
	switch {
	case len(words) > 0 && strings.HasPrefix(words[0], "+"):
		fmt.Fprintln(c.out, strftime(now, words[0][1:]))
	case has(flags, "I", "iso-8601"):
		fmt.Fprintln(c.out, now.Format(time.DateOnly))
	default:
		fmt.Fprintln(c.out, now.Format("Mon Jan _2 15:04:05 UTC 2006"))
	}
	return 0
}

func strftime(t time.Time, format string) string {
	return strings.NewReplacer("%%", "%", "%Y", t.Format("2006"), "%m", t.Format("01"), "%d", t.Format("02"), "%H", t.Format("15"),
		"%M", t.Format("04"), "%S", t.Format("05"), "%F", t.Format(time.DateOnly), "%T", t.Format(time.TimeOnly),
		"%s", strconv.FormatInt(t.Unix(), 10), "%N", t.Format("000000000"), "%Z", "UTC", "%z", "+0000", "%j", t.Format("002"),
		"%a", t.Format("Mon"), "%b", t.Format("Jan"), "%y", t.Format("06")).Replace(format)
}

func runSleep(ctx context.Context, c *call) int {
	_, words := c.options("")
	if len(words) == 0 {
		return c.fail(1, "missing operand")
	}
	var total time.Duration
	for _, word := range words {
		d, err := seconds(word)
		if word == "infinity" {
			d, err = math.MaxInt64, nil
		}
		if err != nil || d < 0 {
			return c.fail(1, "invalid time interval '%s'", word)
		}
		total = max(total, total+d) // a sum that overflows is for ever, too
	}
	if until, bounded := ctx.Value(limitKey{}).(time.Time); bounded {
		total = min(total, until.Sub(c.shell.machine.clock.Now()))
	}
	if total == math.MaxInt64 {
		<-ctx.Done()
		return 1
	}
	if c.shell.machine.clock.Sleep(ctx, total) != nil || ctx.Err() != nil {
		return 1
	}
	return 0
}

// runSystemctl pretends: a unit that was started or enabled is told to be active until it is stopped.
func runSystemctl(_ context.Context, c *call) int {
	_, words := c.options("")
	if len(words) == 0 {
		return 0
	}
	const running = "/run/systemd/units/"
	code := 0
	for _, unit := range words[1:] {
		at := running + lastPart(unit)
		_, missing := c.files().stat(at, true)
		switch words[0] {
		case "start", "restart", "enable", "reload":
			if err := c.files().writeFile(at, File{}); err != nil {
				code = c.failOn(words[0], unit, err)
			}
		case "stop", "disable":
			if missing == nil {
				_ = c.files().removeAll(at) // gone all the same when another was quicker
			}
		case "is-active", "is-enabled", "status":
			if missing != nil {
				fmt.Fprintln(c.out, "inactive")
				code = 3
				continue
			}
			fmt.Fprintln(c.out, "active")
		}
	}
	return code
}

func lastPart(unit string) string {
	unit = strings.TrimSuffix(unit, ".service")
	return unit[strings.LastIndex(unit, "/")+1:]
}

// runKill finds nothing: no command of a machine has a process id.
func runKill(_ context.Context, c *call) int {
	_, words := c.options("s")
	if c.name == "kill" && len(words) > 0 {
		return c.fail(1, "(%s) - No such process", words[0])
	}
	return 1
}

func runWhich(_ context.Context, c *call) int {
	code := 0
	_, names := c.options("")
	for _, name := range names {
		at := c.files().which(name, c.env.Get("PATH").String())
		if at == "" {
			code = 1
			continue
		}
		fmt.Fprintln(c.out, at)
	}
	return code
}

func runNproc(_ context.Context, c *call) int {
	fmt.Fprintln(c.out, 1)
	return 0
}

func runUptime(_ context.Context, c *call) int {
	up := c.shell.machine.clock.Now().Sub(c.shell.machine.booted)
	fmt.Fprintf(c.out, " up %d min,  1 user,  load average: 0.00, 0.00, 0.00\n", int(up.Minutes()))
	return 0
}

func runPrintenv(ctx context.Context, c *call) int {
	if len(c.args) == 0 {
		return runEnv(ctx, c)
	}
	v := c.env.Get(c.args[0])
	if !v.IsSet() {
		return 1
	}
	fmt.Fprintln(c.out, v.String())
	return 0
}

// runNvidia shows one invented GPU, whose id follows from the host name.
func runNvidia(_ context.Context, c *call) int {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(c.shell.machine.hostname)) // a hash never fails
	fmt.Fprintf(c.out, "GPU 0: Fake GPU (UUID: GPU-%016x)\n", sum.Sum64())
	return 0
}

func runPs(_ context.Context, c *call) int {
	fmt.Fprintln(c.out, "    PID TTY          TIME CMD\n      1 ?        00:00:00 init")
	return 0
}

func runDf(_ context.Context, c *call) int {
	c.files().mu.RLock()
	used := c.files().bytes
	c.files().mu.RUnlock()
	fmt.Fprintf(c.out, "Filesystem 1K-blocks Used Available Mounted on\n/dev/vda %d %d %d /\n", MaxDiskSize/1024, used/1024, (MaxDiskSize-used)/1024)
	return 0
}

func runFree(_ context.Context, c *call) int {
	fmt.Fprintln(c.out, "               total        used        free\nMem:         8388608      524288     7864320")
	return 0
}
