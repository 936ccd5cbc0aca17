package opensandbox

import (
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// createWorkload is create as a Kubernetes server does it: the workload can be seen, Pending, while the request waits for its pod;
// when that takes too long it is deleted again, and the answer is 504.
func (s *Service) createWorkload(request CreateRequest, from source) (createdView, *failure) {
	s.mu.Lock()
	if problem := s.workloadProblem(request); problem != nil {
		s.mu.Unlock()
		return createdView{}, problem
	}
	requested := s.clock.Now()
	why, poolProblem := s.neverReady(request, from)
	if poolProblem != nil {
		s.mu.Unlock()
		return createdView{}, poolProblem
	}
	sb := s.register(request, from, requested, requested.UTC().Truncate(time.Second))
	s.labelWorkload(sb, from)
	sb.phase = pending
	s.mu.Unlock()

	if s.options.Async && why == "" {
		return s.readyLater(sb), nil
	}
	took := s.options.ReadyDelay
	if why != "" || took > s.options.CreateTimeout {
		return createdView{}, s.giveUp(sb, why)
	}
	if err := s.wait(took); err != nil {
		return createdView{}, fail(http.StatusInternalServerError, codeKubernetesAPI, "Failed to create sandbox: the server stopped")
	}
	s.mu.Lock()
	status := s.becomeReady(sb, s.clock.Now())
	view := s.createdView(sb, status)
	s.mu.Unlock()
	s.start(sb)
	return view, nil
}

func (s *Service) readyLater(sb *sandbox) createdView {
	s.mu.Lock()
	sb.schedule(change{at: s.clock.Now().Add(s.options.ReadyDelay), to: running})
	view := s.createdView(sb, s.status(sb))
	s.mu.Unlock()
	s.start(sb)
	return view
}

// becomeReady gives the pod its address. GET may say Allocated from here on, create never does.
func (s *Service) becomeReady(sb *sandbox, now time.Time) statusView {
	sb.phase = running
	sb.pod.listens = now.Add(s.options.ExecdDelay)
	if s.options.AllocatedFor > 0 {
		sb.phase = allocated
		sb.schedule(change{at: now.Add(s.options.AllocatedFor), to: running})
	}
	status := s.status(sb)
	if sb.phase == allocated {
		status.State, status.Message = string(running), "Pod has IP assigned and sandbox is ready for requests"
	}
	return status
}

func (s *Service) giveUp(sb *sandbox, why string) *failure {
	err := s.wait(s.options.CreateTimeout)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(sb)
	if err != nil {
		return fail(http.StatusInternalServerError, codeKubernetesAPI, "Failed to create sandbox: the server stopped")
	}
	if why != "" {
		why = ". " + why
	}
	return fail(http.StatusGatewayTimeout, codeReadyTimeout, "Timeout waiting for sandbox %s to be Running with IP. Elapsed: %.1fs, Last state: Pending%s", sb.id, s.options.CreateTimeout.Seconds(), why)
}

// neverReady says why a workload's pod will not come, which the server notices only by waiting, unless it is of the newer
// generation. The caller holds the lock.
func (s *Service) neverReady(request CreateRequest, from source) (why string, at *failure) {
	pool := s.pools[request.poolRef()]
	switch {
	case s.full() && s.options.Newer:
		return "", fail(http.StatusForbidden, "KUBERNETES::QUOTA_EXCEEDED", "Namespace ResourceQuota exceeded: exceeded quota: sandboxes, used: pods=%d, limited: pods=%d", len(s.order), s.options.MaxSandboxes)
	case s.full():
		return "QUOTA_EXCEEDED: exceeded quota: sandboxes", nil
	case request.poolRef() != "" && pool == nil:
		return "pool not found", nil // public #1175: a missing pool only times out
	case pool != nil && s.allocatedOf(pool) >= int(pool.capacity.PoolMax) && s.options.Newer:
		exhausted := fail(http.StatusTooManyRequests, "KUBERNETES::POOL_CAPACITY_EXHAUSTED", "Pool '%s' has no capacity left.", pool.name)
		exhausted.retryAfter = "5"
		return "", exhausted
	case pool != nil && s.allocatedOf(pool) >= int(pool.capacity.PoolMax):
		return "BatchSandbox is pending allocation", nil
	case s.breaks.readiness > 0:
		s.breaks.readiness--
		return "Pod is scheduled but waiting for IP", nil
	case request.poolRef() == "" && s.unpullable(from):
		return "ImagePullBackOff", nil
	}
	return "", nil
}

func (s *Service) unpullable(from source) bool { return s.pullProblem(from) != nil }

var quantity = regexp.MustCompile(`^[+-]?(\d+|\d+\.\d*|\.\d+)([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?$`)

// workloadProblem is what the Kubernetes API or the server's mapping to it refuses.
func (s *Service) workloadProblem(request CreateRequest) *failure {
	if request.poolRef() != "" {
		switch {
		case request.Platform != nil:
			return invalidParameter("platform is not supported together with extensions.poolRef yet. Pool-level platform modeling is not available in this iteration.")
		case len(request.Volumes) > 0:
			return invalidParameter("Pool mode does not support volumes. Remove 'volumes' from request or use template mode.")
		}
		return nil
	}
	if strings.EqualFold(strings.TrimSpace(request.ResourceLimits["gpu"]), "all") {
		return invalidParameter("Kubernetes runtime requires resourceLimits.gpu to be a positive integer; 'all' is not supported.")
	}
	for _, limits := range []map[string]string{request.ResourceLimits, request.ResourceRequests} {
		for _, name := range sortedKeys(limits) {
			if name != "gpu" && !quantity.MatchString(limits[name]) {
				return fail(http.StatusInternalServerError, codeKubernetesAPI, "Failed to create sandbox: (422) Unprocessable Entity: quantities must match the regular expression, got '%s' for %s", limits[name], name)
			}
		}
	}
	for _, volume := range request.Volumes {
		switch {
		case volume.Name == "opensandbox-bin":
			return invalidParameter("Volume name '%s' conflicts with an internal volume. Please use a different volume name.", volume.Name)
		case volume.OSSFS != nil:
			return invalidParameter("Volume '%s' has no supported backend specified. Supported backends: pvc, host", volume.Name)
		}
	}
	return nil
}

// labelWorkload gives the workload its labels: every one that isn't reserved is metadata to GET.
func (s *Service) labelWorkload(sb *sandbox, from source) {
	maps.Copy(sb.labels, s.options.ExtraLabels)
	maps.Copy(sb.labels, sb.request.Metadata)
	sb.labels[labelID] = sb.id
	if sb.request.Timeout == 0 {
		sb.labels[labelManual] = "true"
	}
	if sb.request.SnapshotID != "" && sb.request.poolRef() == "" {
		sb.labels[labelSnapshot] = sb.request.SnapshotID
	}
	if sb.request.SecureAccess {
		sb.secureToken = s.ids.token()
	}
	if platform := sb.request.Platform; platform != nil {
		sb.labels[labelOS], sb.labels[labelArch] = platform.OS, platform.Arch
	}
	if pool := s.pools[sb.request.poolRef()]; pool != nil {
		sb.image, sb.entrypoint, sb.pod.noExecd = "unknown", []string{}, pool.noExecd
		return
	}
	sb.image = from.uri
	sb.entrypoint = append([]string{"/opt/opensandbox/bootstrap.sh"}, sb.request.Entrypoint...)
}
