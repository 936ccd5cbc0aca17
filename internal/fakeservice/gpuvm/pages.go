package gpuvm

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice/statuspage"
)

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "templates/*.html"))

// render answers with a page. The pages need no token: they show no argument, environment, file or header of a request.
func render(w http.ResponseWriter, status int, name string, data any) {
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(&page, name, data); err != nil {
		http.Error(w, "the page can't be made", http.StatusInternalServerError)
		return
	}
	statuspage.SetHeader(w.Header())
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // a browser that has gone needs no page
}

// Section is what the service shows on a status page. The links start with url, or are relative to the page when it is "".
func (s *Service) Section(url string) statuspage.Section {
	section := statuspage.Section{Title: "VM service", URL: url, Requests: s.faults.Total(), Faults: len(s.faults.Pending())}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for _, v := range s.living() {
		m := statuspage.Machine{
			ID: v.id, Image: v.spec.Image, Status: string(v.status), Error: v.err, Labels: v.spec.Labels,
			Age: statuspage.Duration(now.Sub(v.created)), Left: statuspage.Duration(v.expires.Sub(now)), Display: url + v.displayPath(),
			Size: fmt.Sprintf("%g CPU, %d MB memory, %g GB disk", v.spec.CPU, v.spec.MemoryMB, v.spec.DiskGB),
		}
		for _, port := range v.openPorts() {
			m.Ports = append(m.Ports, statuspage.Link{Port: port, URL: url + v.portPath(port)})
		}
		section.Machines = append(section.Machines, m)
	}
	return section
}

type screen struct {
	ID, Image, Age string
	Status         Status
	Gone           bool
	Boot           []string
	Commands       []shownCommand
}

type shownCommand struct{ Title, Started, State, Output string }

// screenOf gives what a machine shows, and the HTTP status: 404 once it is gone.
func (s *Service) screenOf(id string) (screen, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	v := s.find(id, now)
	if v == nil || !v.gone.IsZero() {
		return screen{ID: id, Gone: true}, http.StatusNotFound
	}
	shown := screen{ID: id, Image: v.spec.Image, Status: v.status, Age: statuspage.Duration(now.Sub(v.created)), Boot: v.bootLog(now)}
	for _, c := range v.log.commands {
		shown.Commands = append(shown.Commands, shownCommand{
			Title: printable(c.title), Started: c.started.UTC().Format(time.TimeOnly), State: c.state(),
			Output: printable(strings.TrimRight(c.output.String(), "\n")),
		})
	}
	return shown, http.StatusOK
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

// bootLog tells the boot as far as it has come.
func (v *vm) bootLog(now time.Time) []string {
	steps := []string{
		"firmware: starting " + v.id,
		"disk: image " + v.spec.Image,
		fmt.Sprintf("cpu: %g, memory: %d MB, disk: %g GB", v.spec.CPU, v.spec.MemoryMB, v.spec.DiskGB),
		"kernel: Linux 6.12.0-fake",
		"gpu: Fake GPU found",
		"display: :0 started",
		fmt.Sprintf("network: up, exposed ports: %v", v.openPorts()),
	}
	whole, passed := v.boots.Sub(v.created), now.Sub(v.created)
	done := len(steps)
	if v.status == Booting && whole > 0 && !v.never {
		done = min(int(passed*time.Duration(len(steps))/whole)+1, len(steps))
	}
	lines := make([]string, 0, len(steps)+1)
	for i, step := range steps[:done] {
		lines = append(lines, stamp(whole*time.Duration(i)/time.Duration(len(steps)))+step)
	}
	switch v.status {
	case Booting:
		lines = append(lines, "booting ...")
	case Running:
		lines = append(lines, stamp(whole)+"ready")
	case Failed:
		lines = append(lines, "failed: "+printable(v.err))
	}
	return lines
}

func stamp(d time.Duration) string { return fmt.Sprintf("[%9.3f] ", d.Seconds()) }
