// Package conformance checks a VM service against the contract that the provider gpuvm is built on: the guide "The VM service's
// HTTP API". It is written from the contract's text over plain net/http and shares nothing with the provider's client, nor with
// the fake service: three views of one contract, so that a mistake in one shows against the others.
package conformance

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// Options say which service is checked, and how far.
type Options struct {
	BaseURL string         // http or https, with its path prefix
	Token   string         // "" where the service asks for none: its refusals aren't checked then
	Image   string         // of the machines that are made
	Roots   *x509.CertPool // nil is the system's

	// FailingImage is one whose machines fail to boot; "" leaves that out.
	FailingImage   string
	BootTimeout    time.Duration // how long a machine may take to run; 0 is 10 minutes
	RequestTimeout time.Duration // of each request but exec; 0 is a minute
	// LongCommand is how long the command runs that shows whether something on the way loses patience; 0 leaves it out.
	LongCommand time.Duration
	// Expiry is the ttl of a machine that is watched until it ends by itself; 0 leaves that out.
	Expiry time.Duration

	Clock clock.Clock // nil is the system's
}

const (
	defaultBootTimeout    = 10 * time.Minute
	defaultRequestTimeout = time.Minute
	// graceOfEnd is how long a machine may still be told that was deleted, or has reached its ttl.
	graceOfEnd = 2 * time.Minute
	// cleanUpTimeout bounds the clean-up, which no interrupt cuts short.
	cleanUpTimeout = 3 * time.Minute
)

// Check makes a few machines at the service, looks at everything that the contract says of them, and deletes them again, however
// it ends. Each line is told as soon as it is known. The error says that nothing could be checked: unusable options, or no service.
func Check(ctx context.Context, o Options, tell func(Line)) (report Report, err error) {
	r, err := newRun(o)
	if err != nil {
		return Report{}, err
	}
	if err := r.reach(ctx); err != nil {
		return Report{}, err
	}
	defer func() { report.Left = r.cleanUp(ctx) }() // also on the way of a panic
	for _, s := range steps() {
		if ctx.Err() != nil {
			report.Interrupted = true
			break
		}
		line := r.take(ctx, s)
		if ctx.Err() != nil && line.Verdict == Fail { // what fails in an interrupt says nothing of the service
			report.Interrupted = true
			break
		}
		report.Lines = append(report.Lines, line)
		tell(line)
	}
	return report, nil
}

func newRun(o Options) (*run, error) {
	base, err := url.Parse(strings.TrimRight(strings.TrimSpace(o.BaseURL), "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("the base URL %q is no http or https URL", o.BaseURL)
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the base URL may hold a scheme, a host, a port and a path, nothing else")
	}
	o.Token = strings.TrimSpace(o.Token)
	if o.Image == "" {
		return nil, errors.New("an image to boot is needed")
	}
	if o.BootTimeout <= 0 {
		o.BootTimeout = defaultBootTimeout
	}
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = defaultRequestTimeout
	}
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	return &run{
		Options: o, base: base.String(), client: newClient(o.Roots), tag: strings.ToLower(rand.Text()[:10]),
		standing: map[string]bool{}, verdicts: map[string]Verdict{},
	}, nil
}

// reach finds out whether there is an HTTP service that lets this check in: without one, every line would say the same.
func (r *run) reach(ctx context.Context) error {
	x := r.do(ctx, request{method: "GET", path: []string{r.unknownID()}})
	if x.err != nil {
		return fmt.Errorf("the service can't be reached: %s: %w", x.asked(), x.err)
	}
	if x.status == http.StatusUnauthorized || x.status == http.StatusForbidden {
		if r.Token == "" {
			return fmt.Errorf("the service asks for a token, and none was given: %s got %s", x.asked(), x.came())
		}
		return fmt.Errorf("the service refuses the token: %s got %s", x.asked(), r.redact(x.came()))
	}
	return nil
}

// run is one check of one service.
type run struct {
	Options
	base   string
	client *doer
	tag    string // in the ids, labels and paths of this run

	standing map[string]bool // machines that may stand, by id
	lost     []create        // creates that got no answer, or a 5xx
	unnamed  []create        // creates that succeeded without a usable id
	verdicts map[string]Verdict

	errors   []*exchange // every answer that is an error
	machines []*exchange // every answer that is a machine
	pushback []*exchange // every 429, and every 503 with Retry-After

	main, other    *machine  // nil where it was not made
	first, refused *exchange // the answers to the main machine's create, and to one that isn't JSON
	booting        []waited  // every GET while the main machine booted
	running        *exchange // the GET that first showed it running
	firstPut       *exchange // the answer to the first upload
}

// take does one step and says what came of it.
func (r *run) take(ctx context.Context, s step) Line {
	line := Line{Name: s.name, Contract: s.contract}
	if s.ready != nil {
		if reason := s.ready(r); reason != "" {
			line.Verdict, line.Text = NotChecked, reason
			r.verdicts[s.name] = line.Verdict
			return line
		}
	}
	came := s.do(ctx, r)
	line.Verdict, line.Text = came.verdict, shorten(r.redact(came.text))
	if came.by != nil {
		line.Asked, line.Came = r.redact(came.by.asked()), r.redact(came.by.came())
	}
	r.verdicts[s.name] = line.Verdict
	return line
}

// redact takes the token out of what is shown.
func (r *run) redact(text string) string {
	if len(r.Token) < 4 { // a token of three letters would cut words to pieces
		return text
	}
	return strings.ReplaceAll(text, r.Token, "(token)")
}

func (r *run) unknownID() string { return "no-such-vm-" + r.tag }
