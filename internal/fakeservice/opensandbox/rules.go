package opensandbox

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Codes that more than one place answers with.
const (
	codeInvalidParameter  = "SANDBOX::INVALID_PARAMETER"
	codeInvalidExpiration = "DOCKER::INVALID_EXPIRATION" // on Kubernetes too
	codeInvalidState      = "KUBERNETES::INVALID_STATE"
	codeKubernetesAPI     = "KUBERNETES::API_ERROR"
	codeReadyTimeout      = "KUBERNETES::POD_READY_TIMEOUT"
	codeStartFailed       = "DOCKER::SANDBOX_START_FAILED"
	codeUnknown           = "GENERAL::UNKNOWN_ERROR"
)

func invalidParameter(format string, arguments ...any) *failure {
	return fail(http.StatusBadRequest, codeInvalidParameter, format, arguments...)
}

// reservedPrefix begins the labels that the server keeps for itself.
const reservedPrefix = "opensandbox.io/"

var (
	labelName   = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	labelPrefix = regexp.MustCompile(`^(?:[a-z0-9]([-a-z0-9]*[a-z0-9])?\.)*[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

// checkLabels holds metadata against the rules of Kubernetes labels. In which order the real server meets the keys can't be told
// from outside; sorted ones make answers repeatable.
func checkLabels(metadata map[string]string) *failure {
	const code = "SANDBOX::INVALID_METADATA_LABEL"
	for _, key := range sortedKeys(metadata) {
		value := metadata[key]
		switch {
		case strings.HasPrefix(key, reservedPrefix):
			return fail(http.StatusBadRequest, code, "Metadata key '%s' uses the reserved prefix '%s'. Keys under this prefix are managed by the system and cannot be set via metadata.", key, reservedPrefix)
		case !validLabelKey(key):
			return fail(http.StatusBadRequest, code, "Metadata key '%s' is invalid: it must be a name of up to 63 characters, or a DNS subdomain of up to 253 characters, a slash and a name.", key)
		case value != "" && (len(value) > 63 || !labelName.MatchString(value)):
			return fail(http.StatusBadRequest, code, "Metadata value '%s' is invalid: it must be 63 characters or less, start and end with an alphanumeric character, and contain only alphanumeric characters, '-', '_' or '.'.", value)
		}
	}
	return nil
}

func validLabelKey(key string) bool {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "", key
	}
	if prefixed && (len(prefix) > 253 || !labelPrefix.MatchString(prefix)) {
		return false
	}
	return len(name) <= 63 && labelName.MatchString(name)
}

// checkExtensions checks the one extension that every runtime knows. Source: OSEP-0009, 300 to 86400 seconds.
func checkExtensions(extensions map[string]string) *failure {
	const key = "access.renew.extend.seconds"
	raw, given := extensions[key]
	if !given {
		return nil
	}
	seconds, err := strconv.Atoi(strings.TrimSpace(raw))
	if err != nil {
		return invalidParameter("Invalid extensions[\"%s\"]: must be a base-10 integer string between 300 and 86400, got '%s'.", key, raw)
	}
	if seconds < 300 || seconds > 86400 {
		return invalidParameter("Invalid extensions[\"%s\"]: must be between 300 and 86400 seconds (5 minutes to 24 hours inclusive), got %d.", key, seconds)
	}
	return nil
}

// checkPlatform also brings the platform into lower case, as the server keeps it.
func checkPlatform(platform *Platform) *failure {
	if platform == nil {
		return nil
	}
	system, arch := strings.ToLower(strings.TrimSpace(platform.OS)), strings.ToLower(strings.TrimSpace(platform.Arch))
	if system != "linux" && system != "windows" {
		return invalidParameter("Unsupported platform.os '%s'. Supported values: ['linux', 'windows'].", platform.OS)
	}
	if arch != "amd64" && arch != "arm64" {
		return invalidParameter("Unsupported platform.arch '%s'. Supported values: ['amd64', 'arm64'].", platform.Arch)
	}
	platform.OS, platform.Arch = system, arch
	return nil
}

// longestTimeout is about the year 9999 from now, where the server's dates end.
const longestTimeout = 251_000_000_000

func checkTimeout(seconds int64, limit int) *failure {
	if seconds > longestTimeout {
		return invalidParameter("Sandbox timeout %ds is too large to represent safely.", seconds)
	}
	if limit > 0 && seconds > int64(limit) {
		return invalidParameter("Sandbox timeout %ds exceeds configured maximum of %ds.", seconds, limit)
	}
	return nil
}

// checkVolumes holds volumes against what the body's model can't say. existing are the claims that need no creation.
func (s *Service) checkVolumes(volumes []Volume) *failure {
	seen := map[string]bool{}
	for _, v := range volumes {
		switch {
		case seen[v.Name]:
			return fail(http.StatusBadRequest, "VOLUME::DUPLICATE_NAME", "Duplicate volume name '%s'. Each volume must have a unique name.", v.Name)
		case strings.HasPrefix(v.SubPath, "/"):
			return fail(http.StatusBadRequest, "VOLUME::INVALID_SUB_PATH", "SubPath '%s' must be a relative path, not absolute.", v.SubPath)
		case slices.Contains(strings.Split(v.SubPath, "/"), ".."):
			return fail(http.StatusBadRequest, "VOLUME::INVALID_SUB_PATH", "SubPath '%s' contains path traversal '..' which is not allowed.", v.SubPath)
		}
		seen[v.Name] = true
		if problem := s.checkBackend(v); problem != nil {
			return problem
		}
	}
	return nil
}

func (s *Service) checkBackend(v Volume) *failure {
	switch {
	case v.Host != "":
		return checkHostPath(v.Host, s.options.AllowedHostPaths)
	case v.PVC != nil && !v.PVC.CreateIfNotExists && !s.volumes[v.PVC.Name] && !s.options.Kubernetes:
		return fail(http.StatusBadRequest, "VOLUME::PVC_NOT_FOUND", "Volume '%s': Docker named volume '%s' does not exist. Named volumes must be created before sandbox creation.", v.Name, v.PVC.Name)
	case v.OSSFS != nil:
		for _, option := range v.OSSFS.Options {
			if strings.TrimSpace(option) == "" {
				return fail(http.StatusBadRequest, "VOLUME::INVALID_OSSFS_OPTION", "OSSFS options must be non-empty strings.")
			}
			if strings.HasPrefix(strings.TrimSpace(option), "-") {
				return fail(http.StatusBadRequest, "VOLUME::INVALID_OSSFS_OPTION", "OSSFS options must be raw option payloads without '-' prefix.")
			}
		}
	}
	return nil
}

func checkHostPath(path string, allowed []string) *failure {
	const code = "VOLUME::INVALID_HOST_PATH"
	tail := strings.ReplaceAll(path, `\`, "/")
	if len(tail) > 1 && tail[1] == ':' {
		tail = tail[2:]
	}
	switch {
	case strings.Contains(tail, "/.."):
		return fail(http.StatusBadRequest, code, "Host path '%s' contains path traversal component '..'.", path)
	case strings.Contains(tail, "//") || (len(tail) > 1 && strings.HasSuffix(tail, "/")):
		return fail(http.StatusBadRequest, code, "Host path '%s' is not normalized. Remove redundant slashes.", path)
	case allowed == nil:
		return nil
	}
	for _, prefix := range allowed {
		prefix = strings.TrimSuffix(prefix, "/")
		if path == prefix || strings.HasPrefix(path, prefix+"/") {
			return nil
		}
	}
	return fail(http.StatusBadRequest, "VOLUME::HOST_PATH_NOT_ALLOWED", "Host path '%s' is not under any allowed prefix. Allowed prefixes: %s", path, fmt.Sprint(allowed))
}
