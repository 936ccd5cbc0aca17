// Package statuspage is the page that shows in a browser what the fake services hold. It needs no token and shows no secret:
// names, images, states, labels and links.
package statuspage

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"
)

// shown is how many machines of one service a page lists, the newest ones.
const shown = 500

// Section is one service.
type Section struct {
	Title, URL       string
	Requests, Faults int       // that came, and that are still ordered
	Machines         []Machine // oldest first
}

// Shown gives the machines that the page lists, newest first.
func (s Section) Shown() []Machine {
	listed := slices.Clone(s.Machines[s.Hidden():])
	slices.Reverse(listed)
	return listed
}

// Hidden counts those that it doesn't.
func (s Section) Hidden() int { return max(len(s.Machines)-shown, 0) }

// Machine is one machine.
type Machine struct {
	ID, Image, Size, Status, Error string
	Age, Left                      string // Left is "" for one that never expires
	Ports                          []Link
	Display                        string // URL
	Labels                         map[string]string
}

// Link is an exposed port.
type Link struct {
	Port int
	URL  string
}

// Mood gives a status its colour.
func (m Machine) Mood() string {
	switch strings.ToLower(m.Status) {
	case "running":
		return "good"
	case "failed", "terminated":
		return "bad"
	}
	return "waiting"
}

// Duration writes a time span as the page shows it.
func Duration(d time.Duration) string { return d.Round(time.Second).String() }

//go:embed status.html
var text string

var page = template.Must(template.New("status").Parse(text))

// Handler answers with the page. sections is called at each request.
func Handler(sections func() []Section) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var body bytes.Buffer
		if err := page.Execute(&body, sections()); err != nil {
			http.Error(w, "the page can't be made", http.StatusInternalServerError)
			return
		}
		SetHeader(w.Header())
		_, _ = w.Write(body.Bytes()) // a browser that has gone needs no page
	})
}

// SetHeader sets what every page of the fakes is sent with: it may load nothing, and nothing keeps it.
func SetHeader(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "+
		"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'")
}
