// Package faults gives a fake service its faults to order and its log of requests, as HTTP middleware around the service.
package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// Kind says what goes wrong.
type Kind string

// The kinds of faults. "Handled" means that the service has done what was asked before its answer is spoilt: that is how a
// machine comes to be that the client has never heard of.
const (
	Status      Kind = "status"       // not handled; answered with Status, Body, Header, RetryAfter
	StatusAfter Kind = "status-after" // handled; then as Status: a gateway that gave up waiting
	ResetBefore Kind = "reset-before" // not handled; the connection is reset
	ResetAfter  Kind = "reset-after"  // handled; the connection is reset instead of an answer
	Cut         Kind = "cut"          // handled; half of the answer's body, then the connection ends
	Garbage     Kind = "garbage"      // handled; the answer's body is Body, or text that isn't JSON
	Empty       Kind = "empty"        // handled; the answer's body is {}
	Delay       Kind = "delay"        // handled after Delay; other faults apply on top of it
	Hang        Kind = "hang"         // no answer until the client goes or Set.Release; handled before that unless Before
	Redirect    Kind = "redirect"     // not handled; Status (307 unless given) and Location
	HTML        Kind = "html"         // not handled; 502 (or Status) with a page of a gateway
	Endless     Kind = "endless"      // not handled; 200 and a body without end, 64 KiB each Delay
	Slow        Kind = "slow"         // handled; the body drips, a byte each Delay (1 s unless given)
)

var kinds = []Kind{
	Status, StatusAfter, ResetBefore, ResetAfter, Cut, Garbage, Empty, Delay, Hang, Redirect, HTML, Endless, Slow,
}

// Fault is one fault to order.
type Fault struct { //nolint:recvcheck // JSON wants it so: values are written, pointers are read
	Method string // "" is any
	// Path is "" for any, an exact path, a glob whose * stands for one segment or part of one (/v1/vms/*), or a prefix that
	// ends in a slash or /** (/v1/).
	Path       string
	Kind       Kind // when empty, what Location, Status or Delay implies
	Status     int
	Body       string
	Header     map[string]string
	RetryAfter string // seconds or an HTTP date, as RFC 9110 section 10.2.3 has it
	Location   string // of Redirect
	Delay      time.Duration
	Before     bool // of Hang: it hangs before anything was done
	Skip       int  // so many matching requests pass first, whatever other faults do to them
	Times      int  // how often; 0 is once, -1 for ever
}

// document is a Fault in the control API.
type document struct {
	Method     string            `json:"method,omitempty"`
	Path       string            `json:"path,omitempty"`
	Kind       Kind              `json:"kind,omitempty"`
	Status     int               `json:"status,omitempty"`
	Body       string            `json:"body,omitempty"`
	Header     map[string]string `json:"header,omitempty"`
	RetryAfter string            `json:"retry_after,omitempty"`
	Location   string            `json:"location,omitempty"`
	Delay      string            `json:"delay,omitempty"`
	Before     bool              `json:"before,omitempty"`
	Skip       int               `json:"skip,omitempty"`
	Times      int               `json:"times,omitempty"`
}

// MarshalJSON writes the keys in snake case and the delay as "1.5s".
func (f Fault) MarshalJSON() ([]byte, error) {
	d := document{
		Method: f.Method, Path: f.Path, Kind: f.Kind, Status: f.Status, Body: f.Body, Header: f.Header,
		RetryAfter: f.RetryAfter, Location: f.Location, Before: f.Before, Skip: f.Skip, Times: f.Times,
	}
	if f.Delay != 0 {
		d.Delay = f.Delay.String()
	}
	return json.Marshal(d)
}

// UnmarshalJSON reads what MarshalJSON writes, and checks it.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var d document
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return err
	}
	*f = Fault{
		Method: d.Method, Path: d.Path, Kind: d.Kind, Status: d.Status, Body: d.Body, Header: d.Header,
		RetryAfter: d.RetryAfter, Location: d.Location, Before: d.Before, Skip: d.Skip, Times: d.Times,
	}
	if d.Delay != "" {
		delay, err := time.ParseDuration(d.Delay)
		if err != nil {
			return fmt.Errorf("delay: %w", err)
		}
		f.Delay = delay
	}
	return f.check()
}

// check fills in the kind where another field says it, and refuses what can't be meant.
func (f *Fault) check() error {
	if f.Kind == "" {
		switch {
		case f.Location != "":
			f.Kind = Redirect
		case f.Status != 0:
			f.Kind = Status
		case f.Delay != 0:
			f.Kind = Delay
		default:
			return fmt.Errorf("a fault needs a kind (%s) or status=, location= or delay=", join(kinds))
		}
	}
	switch {
	case !slices.Contains(kinds, f.Kind):
		return fmt.Errorf("unknown kind %q; the kinds are %s", f.Kind, join(kinds))
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("status %d is not within 200 to 599", f.Status)
	case (f.Kind == Status || f.Kind == StatusAfter) && f.Status == 0:
		return fmt.Errorf("kind %q needs status=", f.Kind)
	case f.Kind == Redirect && f.Location == "":
		return fmt.Errorf("kind %q needs location=", f.Kind)
	case f.Kind == Delay && f.Delay <= 0:
		return fmt.Errorf("kind %q needs delay=", f.Kind)
	case f.Delay < 0, f.Skip < 0, f.Times < -1:
		return fmt.Errorf("delay, skip and times can't be negative (times=-1 is for ever)")
	}
	if _, err := path.Match(f.Path, ""); err != nil {
		return fmt.Errorf("path %q: %w", f.Path, err)
	}
	return nil
}

func join(all []Kind) string {
	words := make([]string, len(all))
	for i, k := range all {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}

// Matches tells whether a request is one that the fault is meant for.
func (f *Fault) Matches(method, at string) bool {
	if f.Method != "" && f.Method != method {
		return false
	}
	pattern := strings.TrimSuffix(f.Path, "**")
	switch {
	case f.Path == "" || f.Path == at:
		return true
	case strings.HasSuffix(pattern, "/"):
		return strings.HasPrefix(at, pattern)
	}
	matched, err := path.Match(pattern, at)
	return err == nil && matched
}

func (f *Fault) statusOr(otherwise int) int {
	if f.Status != 0 {
		return f.Status
	}
	return otherwise
}

func (f *Fault) header(h http.Header) {
	for name, value := range f.Header {
		h.Set(name, value)
	}
	if f.RetryAfter != "" {
		h.Set("Retry-After", f.RetryAfter)
	}
}
