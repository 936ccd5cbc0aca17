package gpuvm

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/machine"
)

// Status is what the contract lets a machine be.
type Status string

// The contract's three statuses.
const (
	Booting Status = "booting"
	Running Status = "running"
	Failed  Status = "failed"
)

// Spec is what a create asked for.
type Spec struct {
	Image      string
	CPU        float64
	MemoryMB   int64
	DiskGB     float64
	TTLSeconds int64
	Ports      []int
	Labels     map[string]string
	Priority   *int64
}

// VM is a copy of what the service knows of one machine.
type VM struct {
	ID               string
	Spec             Spec // as asked; Labels as SetLabels left them
	Status           Status
	Error            string
	Ports            map[int]string
	VNCURL           string
	Created, Expires time.Time
	IdempotencyKey   string
	Machine          *machine.Machine
}

// vm is one machine. Its fields are guarded by the service's lock.
type vm struct {
	id, key, base    string // base is the URL that ports and display start with
	spec             Spec
	created, expires time.Time
	boots            time.Time // when it will run or fail
	never            bool      // it boots for ever
	bootError        string    // set from the start when it will fail to boot
	status           Status
	err              string
	gone             time.Time // zero, or when a deleted one disappears
	closed           map[int]bool
	inside           *machine.Machine
	log              commandLog
	number           int // in order of creation
	place            int // in the expiry queue

	// changed ends whenever the status does, and with the machine: what holds an answer waits for it.
	changed context.Context
	change  context.CancelFunc
}

// settle moves the status on to what it is by now.
func (v *vm) settle(now time.Time) {
	if v.status != Booting || v.never || now.Before(v.boots) {
		return
	}
	if v.bootError != "" {
		v.become(Failed, v.bootError)
	} else {
		v.become(Running, "")
	}
}

func (v *vm) become(status Status, text string) {
	v.status, v.err = status, text
	v.touch()
}

// touch lets go the answers that are held until something changes.
func (v *vm) touch() {
	if v.change != nil {
		v.change()
		v.changed, v.change = nil, nil
	}
}

// awaited gives the context that ends with the next change. It is made on demand: few answers are ever held.
func (v *vm) awaited() context.Context {
	if v.changed == nil {
		v.changed, v.change = context.WithCancel(context.Background())
	}
	return v.changed
}

func (v *vm) portPath(port int) string {
	return "/_fake/vms/" + v.id + "/ports/" + strconv.Itoa(port) + "/"
}

func (v *vm) portURL(port int) string { return v.base + v.portPath(port) }

func (v *vm) displayPath() string { return "/_fake/vms/" + v.id + "/display" }

func (v *vm) displayURL() string { return v.base + v.displayPath() }

// told says whether ports and display stand in answers yet.
func (s *Service) told(v *vm) bool { return v.status == Running || s.options.PortsAtOnce }

func (v *vm) openPorts() []int {
	return slices.DeleteFunc(slices.Clone(v.spec.Ports), func(port int) bool { return v.closed[port] })
}

func (s *Service) snapshot(v *vm) VM {
	spec := v.spec
	spec.Ports = slices.Clone(spec.Ports)
	spec.Labels = maps.Clone(spec.Labels)
	ports := map[int]string{}
	for _, port := range v.openPorts() {
		ports[port] = v.portURL(port)
	}
	return VM{
		ID: v.id, Spec: spec, Status: v.status, Error: v.err, Ports: ports, VNCURL: v.displayURL(), Created: v.created,
		Expires: v.expires, IdempotencyKey: v.key, Machine: v.inside,
	}
}

// answer is the shape of the contract.
type answer struct {
	ID     string            `json:"id"`
	Status Status            `json:"status"`
	Image  string            `json:"image"`
	Ports  map[string]string `json:"ports"`
	VNCURL json.RawMessage   `json:"vnc_url,omitempty"`
	Labels map[string]string `json:"labels"`
	Error  string            `json:"error,omitempty"`
}

func (s *Service) answer(v *vm) answer {
	a := answer{ID: v.id, Status: v.status, Image: v.spec.Image, Ports: map[string]string{}, Labels: v.spec.Labels, Error: v.err}
	if a.Labels == nil {
		a.Labels = map[string]string{}
	}
	if s.options.RewriteImage != nil {
		a.Image = s.options.RewriteImage(a.Image)
	}
	if s.told(v) {
		for _, port := range v.openPorts() {
			a.Ports[strconv.Itoa(port)] = v.portURL(port)
		}
	}
	switch {
	case s.options.VNC == VNCAbsent:
	case s.options.VNC == VNCNull || !s.told(v):
		a.VNCURL = json.RawMessage("null")
	default:
		a.VNCURL = json.RawMessage(strconv.Quote(v.displayURL())) // plain ASCII: a host and what this package made
	}
	if len(s.options.ForeignLabels) > 0 || s.options.RewriteLabel != nil {
		a.Labels = map[string]string{}
		maps.Copy(a.Labels, s.options.ForeignLabels)
		for name, value := range v.spec.Labels {
			if s.options.RewriteLabel != nil {
				value = s.options.RewriteLabel(name, value)
			}
			a.Labels[name] = value
		}
	}
	return a
}

// fate decides at create how the boot will end.
func (s *Service) fate(spec Spec) (bootError string, never bool) {
	if s.options.FailBoot != nil {
		if text := s.options.FailBoot(spec); text != "" {
			return text, false
		}
	}
	if s.failNext > 0 {
		s.failNext--
		return s.failText, false
	}
	if strings.Contains(spec.Image, FailBootImage) {
		return "boot failed: the image " + strconv.Quote(spec.Image) + " does not boot", false
	}
	return "", strings.Contains(spec.Image, HangBootImage)
}
