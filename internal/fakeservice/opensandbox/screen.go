package opensandbox

import (
	"bytes"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/statuspage"
)

// servePage is what every port answers that has no service of its own: a screen where displays usually are, else a plain page.
func (s *Service) servePage(w http.ResponseWriter, r *http.Request, sb *sandbox, port int, path string) {
	s.mu.Lock()
	data := pageData{ID: sb.id, Image: sb.image, Port: port, Path: path, Method: r.Method, Status: s.status(sb).Status, Created: sb.created.UTC().Format(time.RFC3339)}
	if data.Image == "" || sb.labels[labelSnapshot] != "" {
		data.Image = "snapshot " + sb.labels[labelSnapshot]
	}
	s.mu.Unlock()
	data.Command, data.Output, data.Code = sb.history.last()
	data.Command, data.Output = printable(data.Command), printable(data.Output)
	for _, line := range sb.history.lastLines(40, time.Time{}) {
		data.Log = append(data.Log, printable(line.text))
	}
	page := portPage
	if isScreen(port) {
		page = screenPage
	}
	var text bytes.Buffer
	if err := page.Execute(&text, data); err != nil { // the template and its data are ours
		panic(err)
	}
	statuspage.SetHeader(w.Header())
	_, _ = w.Write(text.Bytes()) // a browser that has gone needs no page
}

// printable takes away control characters, such as those that colour a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// isScreen reports whether displays usually listen on the port: VNC, noVNC, and the web view of Windows sandboxes.
func isScreen(port int) bool {
	return (port >= 5900 && port < 6000) || (port >= 6080 && port < 6090) || port == 6901 || port == 8006
}

type pageData struct {
	ID, Image, Path, Method, Created string
	Port                             int
	Status                           Status
	Command, Output, Code            string
	Log                              []string
}

var portPage = template.Must(template.New("port").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.ID}}:{{.Port}}</title></head>
<body style="font-family: sans-serif; margin: 3em"><h1>Port {{.Port}}</h1>
<p>{{.Method}} <code>{{.Path}}</code> reached port {{.Port}} of sandbox <code>{{.ID}}</code> ({{.Image}}, {{.Status.State}}).</p>
<p>This is the fake OpenSandbox service: no program of yours listens here.</p></body></html>
`))

var screenPage = template.Must(template.New("screen").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>Screen of {{.ID}}</title>
<style>
body { margin: 0; background: #16324f; color: #e8eef4; font-family: sans-serif }
header { padding: .6em 1em; background: #0d2137 }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
.window { margin: 2em; background: #000; border: 1px solid #4a6b8a; border-radius: 6px; overflow: hidden }
.window h2 { margin: 0; padding: .4em .8em; font-size: 1em; background: #24496e }
.window pre { padding: .8em; color: #c6f0c6 }
</style></head>
<body><header><strong>{{.ID}}</strong> &middot; {{.Image}} &middot; {{.Status.State}} since {{.Created}}</header>
<div class="window"><h2>Last command</h2><pre>{{if .Command}}$ {{.Command}}
{{.Output}}{{if .Code}}[exit {{.Code}}]{{else}}[running]{{end}}{{else}}No command has run yet.{{end}}</pre></div>
<div class="window"><h2>Log</h2><pre>{{range .Log}}{{.}}
{{else}}(no logs)
{{end}}</pre></div></body></html>
`))

// MachineStatus is one line of a status page.
type MachineStatus struct {
	ID, Name, Image, State, Message string
	Metadata                        map[string]string
	Created, Expires                time.Time // Expires is zero for a sandbox that never expires
	Ports                           []PortLink
	Display                         string // URL of its screen
	LastCommand                     string
}

// PortLink is a port that a client has asked the endpoint of.
type PortLink struct {
	Port int
	URL  string
}

// Status lists the sandboxes for a status page, oldest first. The links lead to base (the service's own "http://host:port"); an empty
// one leaves them relative to the page's own host.
func (s *Service) Status(base string) []MachineStatus {
	base = strings.TrimRight(base, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []MachineStatus
	for _, sb := range s.live() {
		link := func(port int) string { return fmt.Sprintf("%s/sandboxes/%s/proxy/%d/", base, sb.id, port) }
		status, metadata := s.status(sb), maps.Clone(s.metadata(sb))
		line := MachineStatus{
			ID: sb.id, Name: metadata["name"], Image: sb.image, State: status.State, Message: status.Message, Metadata: metadata,
			Created: sb.created, Expires: sb.expires(), Display: link(5900),
		}
		for port := range sb.lookedUp {
			line.Ports = append(line.Ports, PortLink{port, link(port)})
			if isScreen(port) {
				line.Display = link(port)
			}
		}
		sortPorts(line.Ports)
		line.LastCommand, _, _ = sb.history.last()
		list = append(list, line)
	}
	return list
}
