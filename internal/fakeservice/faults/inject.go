package faults

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"html"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ControlPrefix is where a fake answers what isn't part of the service it plays. Nothing below it is logged or spoilt.
const ControlPrefix = "/_fake/"

// Wrap puts the faults and the log around a service. It also answers the control API (see control), echoes or makes up
// X-Request-ID, and sets Date by the injected clock. The page at "/" is let through like what is below ControlPrefix.
func (s *Set) Wrap(next http.Handler) http.Handler {
	control := s.control(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, ControlPrefix) {
			control.ServeHTTP(w, r)
			return
		}
		if r.URL.Path == "/" || r.URL.Path == "/favicon.ico" {
			next.ServeHTTP(w, r)
			return
		}
		s.serve(w, r, next)
	})
}

func (s *Set) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	record := s.begin(r)
	w.Header().Set("X-Request-ID", record.RequestID)
	w.Header().Set("Date", s.clock.Now().UTC().Format(http.TimeFormat))
	fault, delay := s.take(r.Method, r.URL.Path)
	if s.clock.Sleep(r.Context(), delay) != nil {
		s.end(record, 0, Delay)
		return
	}
	if fault == nil {
		counted := &counter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(counted, r)
		kind := Kind("")
		if delay > 0 {
			kind = Delay
		}
		s.end(record, counted.status, kind)
		return
	}
	in := &injection{set: s, fault: fault, record: record, w: w, r: r, next: next}
	in.run()
}

// counter notes the status that a handler sends.
type counter struct {
	http.ResponseWriter
	status int
}

func (c *counter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach what the server's writer can do besides.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Flush lets handlers that ask for an http.Flusher stream.
func (c *counter) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() } // best effort, as http.Flusher is

// injection is one fault at work on one request.
type injection struct {
	set    *Set
	fault  *Fault
	record *Record
	w      http.ResponseWriter
	r      *http.Request
	next   http.Handler
}

func (in *injection) run() {
	f := in.fault
	switch f.Kind {
	case Status:
		in.error(f.Status)
	case StatusAfter:
		in.handle()
		in.error(f.Status)
	case ResetBefore:
		in.reset(0)
	case ResetAfter:
		in.reset(in.handle().status)
	case Cut:
		in.cut(in.handle())
	case Garbage, Empty:
		in.replace(in.handle())
	case Hang:
		in.hang()
	case Redirect:
		in.w.Header().Set("Location", f.Location)
		in.send(f.statusOr(http.StatusTemporaryRedirect), "text/plain; charset=utf-8", []byte(f.Body))
	case HTML:
		in.page(f.statusOr(http.StatusBadGateway))
	case Endless:
		in.endless()
	case Slow:
		in.drip(in.handle())
	case Delay: // taken before: Set.take never gives it
	}
}

// answer is what the service would have sent.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header            { return a.header }
func (a *answer) Write(data []byte) (int, error) { return a.body.Write(data) }
func (a *answer) WriteHeader(status int)         { a.status = status }
func (a *answer) Flush()                         {}

// handle lets the service do what was asked and keeps its answer back.
func (in *injection) handle() *answer {
	a := &answer{header: in.w.Header().Clone(), status: http.StatusOK}
	in.next.ServeHTTP(a, in.r)
	return a
}

// send answers and notes it; the fault's own headers come last.
func (in *injection) send(status int, contentType string, body []byte) {
	header := in.w.Header()
	header.Set("Content-Type", contentType)
	in.fault.header(header)
	in.set.end(in.record, status, in.fault.Kind)
	in.w.WriteHeader(status)
	_, _ = in.w.Write(body) // a client that has gone needs no answer
}

func (in *injection) error(status int) {
	body, contentType := in.fault.Body, "application/json"
	if body == "" {
		in.set.mu.Lock()
		build := in.set.errorBody
		in.set.mu.Unlock()
		body = build(status, http.StatusText(status))
	} else if !strings.HasPrefix(strings.TrimSpace(body), "{") {
		contentType = "text/plain; charset=utf-8"
	}
	in.send(status, contentType, []byte(body))
}

func (in *injection) page(status int) {
	body := in.fault.Body
	if body == "" {
		title := html.EscapeString(fmt.Sprintf("%d %s", status, http.StatusText(status)))
		body = "<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title +
			"</h1></center>\r\n<hr><center>gateway</center>\r\n</body>\r\n</html>\r\n"
	}
	in.send(status, "text/html", []byte(body))
}

func (in *injection) copyHeader(a *answer) {
	header := in.w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	header.Del("Content-Length")
}

func (in *injection) replace(a *answer) {
	in.copyHeader(a)
	body := in.fault.Body
	switch {
	case body != "":
	case in.fault.Kind == Empty:
		body = "{}"
	default:
		body = `{"id": "vm-` + "\x01\xff" + `<<<`
	}
	status := in.fault.statusOr(a.status)
	if status == http.StatusNoContent { // it can't have a body
		status = http.StatusOK
	}
	in.send(status, "application/json", []byte(body))
}

// cut sends the first half of the body under the length of the whole.
func (in *injection) cut(a *answer) {
	body := a.body.Bytes()
	if len(body) == 0 { // nothing to cut in two
		in.reset(a.status)
		return
	}
	in.copyHeader(a)
	in.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	in.set.end(in.record, a.status, Cut)
	in.w.WriteHeader(a.status)
	_, _ = in.w.Write(body[:len(body)/2])        // either way the connection ends now
	_ = http.NewResponseController(in.w).Flush() // likewise
	panic(http.ErrAbortHandler)
}

// reset ends the connection with a TCP reset where there is one to oneself, else the stream.
func (in *injection) reset(status int) {
	in.set.end(in.record, status, in.fault.Kind)
	conn, _, err := http.NewResponseController(in.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the close is an orderly one: a weaker fault, but a fault
	}
	_ = conn.Close() // nothing is left to be told
}

func (in *injection) hang() {
	in.set.mu.Lock()
	released := in.set.released
	in.set.mu.Unlock()
	var a *answer
	if !in.fault.Before {
		a = in.handle()
	}
	select {
	case <-in.r.Context().Done():
		in.set.end(in.record, 0, Hang)
		return
	case <-released:
	}
	if a == nil {
		a = in.handle()
	}
	in.copyHeader(a)
	in.set.end(in.record, a.status, Hang)
	in.w.WriteHeader(a.status)
	_, _ = in.w.Write(a.body.Bytes()) // a client that has gone needs no answer
}

func (in *injection) endless() {
	in.w.Header().Set("Content-Type", "application/json")
	in.fault.header(in.w.Header())
	in.set.end(in.record, http.StatusOK, Endless)
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	_, err := in.w.Write([]byte(`{"id": "`))
	for err == nil && in.r.Context().Err() == nil {
		if err = in.set.clock.Sleep(in.r.Context(), in.fault.Delay); err == nil {
			_, err = in.w.Write(chunk)
		}
	}
}

func (in *injection) drip(a *answer) {
	in.copyHeader(a)
	in.set.end(in.record, a.status, Slow)
	in.w.WriteHeader(a.status)
	pause := in.fault.Delay
	if pause == 0 {
		pause = time.Second
	}
	for _, b := range a.body.Bytes() {
		if in.set.clock.Sleep(in.r.Context(), pause) != nil {
			return
		}
		if _, err := in.w.Write([]byte{b}); err != nil {
			return
		}
		_ = http.NewResponseController(in.w).Flush() // a client that has gone shows at the next write
	}
}
