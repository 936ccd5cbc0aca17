package opensandbox

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

// createSandbox checks a request in the real server's order and hands it to the runtime's manner of making a sandbox.
func (s *Service) createSandbox(w http.ResponseWriter, r *http.Request, _ []string) *failure {
	var c checker
	object := c.bodyModel(r, true)
	var request CreateRequest
	if c.ok(0) {
		request = c.createRequest(object, s.options.Newer)
	}
	if !c.ok(0) {
		c.write(w)
		return nil
	}
	if problem := checkExtensions(request.Extensions); problem != nil {
		return problem
	}
	if request.poolRef() != "" && !s.options.Kubernetes {
		return fail(http.StatusBadRequest, "SANDBOX::UNSUPPORTED_POOL_REF", "poolRef is not supported by the Docker provider. Use Kubernetes BatchSandbox provider instead.")
	}
	source, problem := s.resolveSource(&request)
	if problem == nil {
		problem = s.checkCreate(&request)
	}
	if problem != nil {
		return problem
	}
	runtime := s.createContainer
	if s.options.Kubernetes {
		runtime = s.createWorkload
	}
	view, problem := runtime(request, source)
	if problem != nil {
		return problem
	}
	writeJSON(w, http.StatusAccepted, view)
	return nil
}

func (s *Service) checkCreate(request *CreateRequest) *failure {
	if problem := checkLabels(request.Metadata); problem != nil {
		return problem
	}
	if problem := checkPlatform(request.Platform); problem != nil {
		return problem
	}
	if problem := checkTimeout(request.Timeout, s.options.MaxTimeout); problem != nil {
		return problem
	}
	switch {
	case request.SecureAccess && !s.options.Kubernetes:
		return invalidParameter("secureAccess is not supported when runtime.type='docker'. Use the Kubernetes runtime to create secured sandboxes.")
	case request.SecureAccess && s.options.Ingress == IngressDirect:
		return invalidParameter("secureAccess is currently supported only for Kubernetes sandboxes exposed through ingress.mode='gateway'. Configure ingress gateway mode or disable secureAccess.")
	case request.NetworkPolicy != nil && s.options.NoEgress:
		return invalidParameter("egress.image must be configured when networkPolicy is provided.")
	case request.CredentialProxy && s.options.Newer && s.options.EgressMode != "dns+nft":
		return invalidParameter("credentialProxy requires egress.mode = 'dns+nft'.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkVolumes(request.Volumes)
}

// source is what a sandbox is made of.
type source struct {
	image    Image
	uri      string
	snapshot *snapshot
}

// resolveSource finds the snapshot that a request names, and completes the entrypoint of a restored sandbox.
func (s *Service) resolveSource(request *CreateRequest) (source, *failure) {
	if request.poolRef() != "" {
		return source{}, nil
	}
	if request.Image != nil {
		return source{image: s.options.Images[request.Image.URI], uri: request.Image.URI}, nil
	}
	id := strings.TrimSpace(request.SnapshotID)
	request.SnapshotID = id
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, problem := s.findSnapshot(id)
	switch {
	case problem != nil:
		return source{}, problem
	case snap.status.State != snapshotReady:
		return source{}, fail(http.StatusConflict, "SNAPSHOT::NOT_READY", "Snapshot %s is not ready for restore.", id)
	}
	if len(request.Entrypoint) == 0 {
		request.Entrypoint = slices.Clone(idleEntrypoint)
	}
	return source{snapshot: snap}, nil
}

var idleEntrypoint = []string{"tail", "-f", "/dev/null"}

// register makes the sandbox known. The caller holds the lock.
func (s *Service) register(request CreateRequest, from source, requested, created time.Time) *sandbox {
	s.sequence++
	sb := &sandbox{
		id: s.ids.uuid(), sequence: s.sequence, request: request, labels: map[string]string{}, entrypoint: slices.Clone(request.Entrypoint),
		requested: requested, created: created, changed: created, listed: s.clock.Now().Add(s.options.ListLag), phase: running,
		closed: map[int]bool{}, lookedUp: map[int]bool{}, history: &history{}, noShell: from.image.NoShell,
		pod: newPod(s.life, 1, s.clock.Now().Add(s.options.ExecdDelay)),
	}
	if request.Timeout > 0 {
		sb.deadline = requested.Add(time.Duration(request.Timeout) * time.Second)
	}
	if request.NetworkPolicy != nil {
		sb.egress = newSidecar(*request.NetworkPolicy, s.ids.token(), s.options.EgressMode)
	}
	if from.snapshot != nil {
		sb.base = from.snapshot.files
		sb.request.Env = merged(from.snapshot.env, request.Env)
	}
	for _, volume := range request.Volumes {
		if volume.PVC != nil && !s.volumes[volume.PVC.Name] {
			s.volumes[volume.PVC.Name], s.madeVolumes[volume.PVC.Name] = true, true
		}
	}
	s.sandboxes[sb.id] = sb
	s.order = append(s.order, sb)
	if s.sequence%64 == 0 { // what expired and was never looked at again must not pile up
		s.live()
	}
	return sb
}

func merged(under, over map[string]string) map[string]string {
	result := maps.Clone(under)
	if result == nil {
		result = map[string]string{}
	}
	maps.Copy(result, over)
	return result
}

// created is the answer of create. It tells what was asked, not what was made: a restored sandbox's inherited expiry isn't in it.
func (s *Service) createdView(sb *sandbox, status statusView) createdView {
	view := createdView{
		ID: sb.id, Status: status, Platform: sb.request.Platform, CreatedAt: timestamp(sb.requested), Entrypoint: sb.request.Entrypoint, newerView: s.newerView(sb),
	}
	if sb.request.Metadata != nil {
		view.Metadata = &sb.request.Metadata
	}
	if sb.request.Timeout > 0 {
		view.ExpiresAt = optional(sb.requested.Add(time.Duration(sb.request.Timeout) * time.Second))
	}
	return view
}

// environment is what every process of the sandbox sees.
func (sb *sandbox) environment(extra map[string]string) map[string]string {
	return merged(sb.request.Env, extra)
}

// command is one command in the sandbox; uid is nil for the image's own user.
func (sb *sandbox) command(argv []string, extra map[string]string) machine.Command {
	return machine.Command{Argv: argv, Env: sb.environment(extra)}
}
