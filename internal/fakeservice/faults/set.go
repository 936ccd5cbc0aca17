package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/agentenv/terraform-provider-gpuvm/internal/clock"
)

// What is kept of requests is bounded, so that a fake may run for weeks: the oldest go first.
const (
	maxRecords   = 20_000
	maxBody      = 64 << 10 // bytes kept of one request's body
	maxAllBodies = 32 << 20
)

// Record is one request as it came in.
type Record struct {
	Time                time.Time
	Method, Path, Query string
	Header              http.Header
	Body                []byte // the first 64 KiB
	Status              int    // 0 while it is handled, or when there was no answer
	Fault               Kind   // what was done to it, or ""
	RequestID           string // the answer's X-Request-ID
	ConnID              string // the client's address and port: the same for requests over one connection
}

// Set holds the faults that are ordered and the requests that came. It is safe for concurrent use.
type Set struct {
	clock clock.Clock

	mu        sync.Mutex
	faults    []*Fault
	records   []*Record
	bodies    int
	total     int
	hooks     map[int]func(Record)
	nextHook  int
	released  chan struct{}
	errorBody func(status int, text string) string
}

// New gives an empty set; delays wait on the clock.
func New(c clock.Clock) *Set {
	return &Set{clock: c, hooks: map[int]func(Record){}, released: make(chan struct{}), errorBody: errorBody}
}

func errorBody(_ int, text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return `{"error":"fault"}`
	}
	return `{"error":` + string(quoted) + `}`
}

// SetErrorBody sets how a status fault without a body reads; {"error": text} unless set.
func (s *Set) SetErrorBody(body func(status int, text string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errorBody = body
}

// Order adds faults. Each request gets the first that matches it and isn't used up; delays add up and let others follow.
// It panics on a fault that makes no sense, such as a status without its number: the mistake is the test's.
func (s *Set) Order(ordered ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range ordered {
		if err := f.check(); err != nil {
			panic("faults: " + err.Error())
		}
		if f.Times == 0 {
			f.Times = 1
		}
		s.faults = append(s.faults, &f)
	}
}

// Clear forgets the ordered faults and lets go what hangs.
func (s *Set) Clear() {
	s.mu.Lock()
	s.faults = nil
	s.mu.Unlock()
	s.Release()
}

// Release lets every request go on that a Hang holds now.
func (s *Set) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.released)
	s.released = make(chan struct{})
}

// Pending lists the faults that are still to come, with what is left of Skip and Times.
func (s *Set) Pending() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := make([]Fault, len(s.faults))
	for i, f := range s.faults {
		left[i] = *f
	}
	return left
}

// Requests lists what came, oldest first. Headers and bodies are shared: don't change them.
func (s *Set) Requests() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Record, len(s.records))
	for i, r := range s.records {
		all[i] = *r
	}
	return all
}

// Total counts the requests since New or Reset, also those that the log holds no more.
func (s *Set) Total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Reset forgets the faults and the requests.
func (s *Set) Reset() {
	s.Clear()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records, s.bodies, s.total = nil, 0, 0
}

// OnRequest has f called for each request before it is handled or spoilt, on the request's own goroutine: a test waits for
// a request, or acts in the middle of one. The returned func ends it.
func (s *Set) OnRequest(f func(Record)) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.nextHook
	s.nextHook++
	s.hooks[id] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hooks, id)
	}
}

// begin notes a request and calls the hooks.
func (s *Set) begin(r *http.Request) *Record {
	record := &Record{
		Time: s.clock.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(),
		Body: peek(r), RequestID: r.Header.Get("X-Request-ID"), ConnID: r.RemoteAddr,
	}
	s.mu.Lock()
	s.total++
	if record.RequestID == "" || len(record.RequestID) > 128 {
		record.RequestID = "req-" + strconv.Itoa(s.total)
	}
	s.records = append(s.records, record)
	s.bodies += len(record.Body)
	for len(s.records) > maxRecords || s.bodies > maxAllBodies {
		s.bodies -= len(s.records[0].Body)
		s.records[0] = nil // the array behind the slice must not keep it
		s.records = s.records[1:]
	}
	copied := *record
	hooks := make([]func(Record), 0, len(s.hooks))
	for _, hook := range s.hooks {
		hooks = append(hooks, hook)
	}
	s.mu.Unlock()
	for _, hook := range hooks {
		hook(copied)
	}
	return record
}

func (s *Set) end(record *Record, status int, fault Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	record.Status, record.Fault = status, fault
}

// peek reads the start of a body and puts it back.
func peek(r *http.Request) []byte {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	start, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	rest := r.Body
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), failing{err}, rest), rest}
	return start
}

// failing hands a read error on to the one who reads the body in earnest.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// take gives the fault for a request, or nil, and the delays that come before it.
func (s *Set) take(method, path string) (*Fault, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) == 0 {
		return nil, 0
	}
	var taken *Fault
	var delay time.Duration
	for _, f := range s.faults {
		if !f.Matches(method, path) {
			continue
		}
		switch {
		case f.Skip > 0:
			f.Skip--
			continue
		case f.Kind == Delay:
			delay += f.Delay
		case taken != nil:
			continue
		default:
			copied := *f
			taken = &copied
		}
		if f.Times > 0 {
			f.Times--
		}
	}
	s.faults = slices.DeleteFunc(s.faults, func(f *Fault) bool { return f.Times == 0 })
	return taken, delay
}
