package opensandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// variable is a reference that execd insists on knowing; every other $ it drops with the character after it.
var variable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// agentEnvironment is what execd's own process has: the sandbox's variables over those of any container.
func (sb *sandbox) agentEnvironment() map[string]string {
	return merged(map[string]string{"HOME": "/root", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, sb.request.Env)
}

// expandPath replaces variables, even within an absolute path, and a leading ~. There is no way to write a $ that stays.
func (sb *sandbox) expandPath(name string, more map[string]string) (string, error) {
	env := merged(sb.agentEnvironment(), more)
	var missing []string
	for _, match := range variable.FindAllStringSubmatch(name, -1) {
		wanted := match[1] + match[2]
		if _, known := env[wanted]; !known && !slices.Contains(missing, wanted) {
			missing = append(missing, wanted)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return "", fmt.Errorf("path references undefined environment variables: %s", strings.Join(missing, ","))
	}
	name = os.Expand(name, func(key string) string { return env[key] })
	if name == "~" || strings.HasPrefix(name, "~/") {
		name = env["HOME"] + name[1:]
	}
	return name, nil
}

// absolutePath also completes a path: what is relative begins at the root, where execd runs.
func (sb *sandbox) absolutePath(name string) (string, error) {
	expanded, err := sb.expandPath(name, nil)
	return path.Clean("/" + expanded), err
}

// asOp gives an error of a path as the system call would that the real execd makes.
func asOp(op string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: op, Path: failed.Path, Err: failed.Err}
	}
	return err
}

// obstacle is the directory on the way to a file that is none, or "".
func (s *Service) obstacle(sb *sandbox, name string) string {
	for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
		if _, err := s.disk(sb).ReadFile(dir); err == nil {
			return dir
		}
	}
	return ""
}

// workingDirectory says what is wrong with a command's directory, or "". It is judged before the command's own variables count.
func (s *Service) workingDirectory(sb *sandbox, dir string) string {
	if dir == "" {
		return ""
	}
	at, err := sb.absolutePath(dir)
	if err != nil {
		return fmt.Sprintf("cannot resolve working directory %q: %v", dir, err)
	}
	file, err := s.disk(sb).Lstat(at)
	if err == nil && file.Mode&fs.ModeSymlink != 0 {
		_, err = s.disk(sb).ReadFile(at)
		if errors.Is(err, syscall.EISDIR) {
			return ""
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("working directory does not exist: %s: %v", dir, asOp("stat", err))
	case err != nil:
		return fmt.Sprintf("cannot access working directory %q: %v", dir, asOp("stat", err))
	case !file.Mode.IsDir():
		return "working directory path is not a directory: " + dir
	}
	return ""
}
