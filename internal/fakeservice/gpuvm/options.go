// Package gpuvm is a fake of the VM service: stateful, in memory, strict about the contract, over real HTTP. It shares no code
// with the client of the same contract, so that a mistake in one shows against the other.
package gpuvm

import (
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// VNC says what an answer's vnc_url is; the contract allows all three.
type VNC int

// What vnc_url may be.
const (
	VNCGiven  VNC = iota // a URL once the machine runs, null before
	VNCNull              // always null
	VNCAbsent            // never in an answer
)

// FailBootImage and HangBootImage, anywhere in an image's name, make its machines fail to boot, or boot for ever.
const (
	FailBootImage = "fail-boot"
	HangBootImage = "hang-boot"
)

// Options are the switches of the fake. The zero value is the plainest service that the contract allows: no optional header,
// ports and display told once the machine runs, machines that boot at once.
type Options struct {
	Token     string            // what requests must bear; "" asks for none
	Clock     clock.Clock       // boots, expiries and dates follow it; nil is the system's
	BootDelay time.Duration     // from create to running or failed
	FailBoot  func(Spec) string // text of the error when that machine shall fail to boot, else ""; asked at create
	Seed      int64             // of the ids: the same seed gives the same ids in the same order; 0 gives others each time
	URL       string            // scheme and host that ports and vnc_url start with; "" takes them from each create request
	Prefix    string            // path before /v1, such as "/team/gpu"

	IdempotencyKeys bool // honour Idempotency-Key and answer Idempotency-Replayed
	LongPoll        bool // honour "Prefer: wait" (RFC 7240 section 4.3)
	PortsAtOnce     bool // ports and vnc_url stand in the answer to create already
	VNC             VNC

	ForeignLabels map[string]string              // added to every machine's labels in answers
	RewriteLabel  func(key, value string) string // changes the values of labels in answers
	RewriteImage  func(image string) string      // changes the image in answers

	AppearDelay time.Duration // GET is 404 for so long after create
	DeleteDelay time.Duration // a deleted machine is still told for so long
	EchoSecrets bool          // errors repeat the Authorization header and the body that came: a badly made service
	MaxVMs      int           // one more is 503; 0 means 10,000
}

// Limits of requests and answers, in bytes.
const (
	maxCreateBody = 1 << 20
	maxExecBody   = 8 << 20
	maxFile       = 32 << 20 // of a PUT; a larger one is 413
	maxOutput     = 1 << 20  // of each stream of a command; the end of it is kept
	defaultMaxVMs = 10_000
	maxKeys       = 20_000 // idempotency keys that are remembered; the oldest go first
	longestWait   = 5 * time.Minute
)
