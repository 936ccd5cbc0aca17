package opensandbox

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// "each exposed port answering with a page of its own; vnc ports answer a screen page of the machine (name, image, last command
// output), escaped".
func TestPagesOfPorts(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	id := c.create(object{"image": object{"uri": "desktop:1"}, "timeout": 600, "metadata": object{"name": "my-desktop"}})
	execd, _ := c.endpoint(id, "44772")
	c.run(execd, `printf '\033[31m<script>alert(1)</script>\n'; exit 3`)
	web, _ := c.endpoint(id, "8080")
	page := c.direct().get(web + "/some/path").want(http.StatusOK)
	if !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") || !strings.Contains(page.String(), "Port 8080") || !strings.Contains(page.String(), "/some/path") {
		t.Errorf("page: %s", page)
	}
	for _, port := range []string{"5900", "6080"} {
		url, _ := c.endpoint(id, port)
		screen := c.direct().get(url).want(http.StatusOK).String()
		for _, want := range []string{id, "desktop:1", "&lt;script&gt;alert(1)", "[exit 3]", "Running", "starting OpenSandbox Execd"} {
			if !strings.Contains(screen, want) {
				t.Errorf("port %s: no %q in %s", port, want, screen)
			}
		}
		if strings.Contains(screen, "<script>") || strings.Contains(screen, "\033") {
			t.Errorf("port %s: output isn't escaped", port)
		}
	}
	snapshot := c.snapshot(id)
	restored, _ := c.endpoint(c.create(object{"image": nil, "snapshotId": snapshot}), "5900")
	if got := c.direct().get(restored).String(); !strings.Contains(got, "snapshot "+snapshot) || !strings.Contains(got, "No command has run yet.") {
		t.Errorf("screen of a restored sandbox: %s", got)
	}

	lines := c.service.Status(c.url + "/")
	if len(lines) != 2 {
		t.Fatalf("status: %+v", lines)
	}
	line := lines[0]
	if line.ID != id || line.Name != "my-desktop" || line.State != "Running" || line.Image != "desktop:1" || !line.Expires.Equal(start.Add(10*time.Minute)) || !strings.HasPrefix(line.LastCommand, "printf") {
		t.Errorf("status: %+v", line)
	}
	if len(line.Ports) != 4 || line.Ports[0].Port != 5900 {
		t.Errorf("ports: %+v", line.Ports)
	}
	c.direct().get(line.Display).want(http.StatusOK)
	for _, port := range line.Ports[:2] {
		c.direct().get(port.URL).want(http.StatusOK)
	}
}
