package opensandbox

import (
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// createLag is by how much Docker's own time of creation lies after the one that create answers: they are never equal.
const createLag = 137 * time.Millisecond

// createContainer is create as a Docker server does it: it holds everything else up while it pulls and starts, it goes on when the
// client has gone, and it answers Running whatever the entrypoint does a moment later.
func (s *Service) createContainer(request CreateRequest, from source) (createdView, *failure) {
	if s.options.Async {
		return s.createLater(request, from)
	}
	s.loop.take()
	defer s.loop.free()
	requested := s.clock.Now()
	if problem := s.pull(from); problem != nil {
		return createdView{}, problem
	}
	s.mu.Lock()
	if problem := s.startProblem(request); problem != nil {
		s.mu.Unlock()
		return createdView{}, problem
	}
	sb := s.register(request, from, requested, s.clock.Now().Add(createLag))
	s.labelContainer(sb, from)
	s.mu.Unlock()
	s.start(sb)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.createdView(sb, statusView{Status{"Running", "CONTAINER_RUNNING", "Sandbox container started successfully."}, optional(requested)}), nil
}

// createLater answers Pending and does the work by the clock.
func (s *Service) createLater(request CreateRequest, from source) (createdView, *failure) {
	s.mu.Lock()
	now := s.clock.Now()
	sb := s.register(request, from, now, now)
	s.labelContainer(sb, from)
	sb.phase = pending
	done := change{at: now.Add(s.options.PullDelay), to: running}
	problem := s.pullProblem(from)
	if problem == nil {
		problem = s.startProblem(request)
	}
	if problem != nil {
		done.to, done.message = failed, problem.message
	}
	sb.schedule(done)
	view := s.createdView(sb, s.status(sb))
	s.mu.Unlock()
	if problem == nil {
		s.start(sb)
	}
	return view, nil
}

// pull waits for the image. A snapshot's is here already.
func (s *Service) pull(from source) *failure {
	if from.snapshot != nil {
		return nil
	}
	if err := s.wait(s.options.PullDelay); err != nil {
		return fail(http.StatusInternalServerError, codeStartFailed, "the server stopped")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pullProblem(from)
}

// pullProblem is why an image can't be had: the options say so, a test ordered it, or its name says so.
func (s *Service) pullProblem(from source) *failure {
	reason := from.image.PullError
	switch {
	case from.snapshot != nil:
		return nil
	case s.breaks.pulls > 0:
		s.breaks.pulls--
		reason = "500 Server Error: Internal Server Error (\"received unexpected HTTP status: 503 Service Unavailable\")"
	case reason == "" && namesNothing(from.uri):
		reason = "404 Client Error: Not Found (\"pull access denied for " + from.uri + ", repository does not exist or may require 'docker login'\")"
	}
	if reason == "" {
		return nil
	}
	return fail(http.StatusInternalServerError, "DOCKER::SANDBOX_IMAGE_PULL_FAILED", "Failed to pull image %s: %s", from.uri, reason)
}

// namesNothing is the convention for names of images and commands that don't exist, for which the fake would otherwise need to know
// all that do.
func namesNothing(name string) bool {
	for _, word := range []string{"no-such", "nosuch", "does-not-exist", "nonexistent"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// startProblem is why Docker would refuse to start a container. The caller holds the lock.
func (s *Service) startProblem(request CreateRequest) *failure {
	reason := ""
	switch memory, given := memoryBytes(request.ResourceLimits["memory"]); {
	case s.breaks.starts > 0:
		s.breaks.starts--
		reason = "500 Server Error: Internal Server Error (\"failed to create task for container\")"
	case given && memory < 6<<20: // Docker's own minimum
		reason = "400 Client Error: Bad Request (\"Minimum memory limit allowed is 6MB\")"
	case s.full():
		reason = "500 Server Error: Internal Server Error (\"no space left on device\")"
	case request.NetworkPolicy != nil && request.NetworkPolicy.refused() != "":
		return fail(http.StatusInternalServerError, codeStartFailed, "Egress sidecar did not become ready within 30s")
	}
	if reason == "" {
		return nil
	}
	return fail(http.StatusInternalServerError, codeStartFailed, "Failed to create or start container: %s", reason)
}

// full reports whether the quota is used up. The caller holds the lock.
func (s *Service) full() bool {
	return len(s.order) >= s.options.MaxSandboxes && len(s.live()) >= s.options.MaxSandboxes
}

var memorySize = regexp.MustCompile(`^\s*(\d+)([kmgti]i?|[kmgti]?b)?\s*$`)

// memoryBytes reads a memory limit. What it can't read sets no limit, without a word, as with the real server.
func memoryBytes(text string) (bytes int64, given bool) {
	parts := memorySize.FindStringSubmatch(strings.ToLower(text))
	if parts == nil {
		return 0, false
	}
	amount, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return 0, false
	}
	factor := int64(1)
	if unit := strings.TrimSuffix(parts[2], "b"); unit != "" {
		step := int64(1000)
		if strings.HasSuffix(unit, "i") && len(unit) > 1 {
			step = 1024
		}
		for range strings.IndexByte("kmgt", unit[0]) + 1 {
			factor *= step
		}
	}
	return amount * factor, true
}

// labelContainer gives the container its labels. Those of the image lie under them, and the image of a snapshot holds all that its
// source was created with: so its metadata, and its expiry or the lack of one, are inherited.
func (s *Service) labelContainer(sb *sandbox, from source) {
	request := sb.request
	maps.Copy(sb.labels, from.image.Labels)
	if from.snapshot != nil {
		maps.Copy(sb.labels, from.snapshot.labels)
		sb.labels[labelSnapshot] = request.SnapshotID
	}
	maps.Copy(sb.labels, request.Metadata)
	sb.labels[labelID] = sb.id
	if request.Timeout > 0 {
		sb.labels[labelExpires] = sb.deadline.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
	} else {
		sb.labels[labelManual] = "true"
	}
	if request.Platform != nil {
		sb.labels[labelOS], sb.labels[labelArch] = request.Platform.OS, request.Platform.Arch
	}
	if seconds, given := request.Extensions["access.renew.extend.seconds"]; given {
		sb.labels[labelRenew] = strings.TrimSpace(seconds)
	}
	if sb.egress != nil {
		sb.labels[labelEgressToken] = sb.egress.token
	}
	sb.image = shownImage(from)
}

// shownImage is what Docker calls an image: its first tag, or a short id where it has none.
func shownImage(from source) string {
	name := from.uri
	if from.image.FirstTag != "" {
		return from.image.FirstTag
	}
	for _, registry := range []string{"index.docker.io/", "docker.io/", "library/"} {
		name = strings.TrimPrefix(name, registry)
	}
	if _, digest, found := strings.Cut(name, "@"); found {
		return digest[:min(len(digest), len("sha256:")+10)]
	}
	if !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
		name += ":latest"
	}
	return name
}
