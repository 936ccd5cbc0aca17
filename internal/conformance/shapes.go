package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

const stepShape = "a machine's shape"

func shapes() []step {
	return []step{
		{
			name: stepShape, ready: made, do: checkShape,
			contract: `{"id": text, "status": "booting", "running" or "failed", "image": text, "ports": {"<port>": url}, "vnc_url": url, null or absent, "labels": {text: text}}, and "error": text once it failed`,
		},
		{
			name: "labels", ready: made, do: checkLabels,
			contract: "labels may hold more than was asked for, or other values: every key that was asked for is there.",
		},
		{
			name: "ports", ready: running, do: checkPorts,
			contract: "A running machine has a URL for each port that was asked for.",
		},
		{
			name: "display", ready: running, do: checkDisplay,
			contract: "vnc_url may be absent or null; else it is the URL of the machine's display.",
		},
		{
			name: "Date", ready: made, do: checkDate,
			contract: "The Date header is taken as the service's clock: created_at is that of the answer to POST.",
		},
	}
}

// running says why a step that needs a machine that runs can't be taken.
func running(r *run) string {
	if r.running == nil {
		return "see " + stepBoot
	}
	return ""
}

// checkShape looks at every answer so far that is a machine.
func checkShape(_ context.Context, r *run) outcome {
	for _, x := range r.machines {
		if wrong := misshapen(x); wrong != "" {
			return fail(x, "%s", wrong)
		}
	}
	return pass(nil)
}

func misshapen(x *exchange) string {
	fields, err := x.object()
	if err != nil {
		return err.Error()
	}
	for _, name := range []string{"id", "status", "image"} {
		if text, isText := fields[name].(string); !isText || text == "" {
			return fmt.Sprintf("%s is no text: %s", name, written(fields, name))
		}
	}
	if status := fields["status"]; !slices.Contains([]any{"booting", "running", "failed"}, status) {
		return fmt.Sprintf("status is %q", status)
	}
	for _, name := range []string{"ports", "labels"} {
		entries, isObject := fields[name].(map[string]any)
		if !isObject {
			return fmt.Sprintf("%s is no object: %s", name, written(fields, name))
		}
		for key, value := range entries {
			if _, isText := value.(string); !isText {
				return fmt.Sprintf("%s has something under %q that is no text", name, key)
			}
		}
	}
	for _, name := range []string{"vnc_url", "error"} {
		value, given := fields[name]
		if _, isText := value.(string); given && value != nil && !isText {
			return fmt.Sprintf("%s is no text: %s", name, written(fields, name))
		}
	}
	return ""
}

func written(fields map[string]any, name string) string {
	value, given := fields[name]
	if !given {
		return "it is missing"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return shorten(string(text))
}

func checkLabels(_ context.Context, r *run) outcome {
	fields, _ := r.first.object()
	given, isObject := fields["labels"].(map[string]any)
	if !isObject {
		return notChecked("see " + stepShape)
	}
	for key := range r.labels() {
		if _, there := given[key]; !there {
			return fail(r.first, "%s is missing", key)
		}
	}
	return pass(r.first)
}

func checkPorts(_ context.Context, r *run) outcome {
	fields, _ := r.running.object()
	given, isObject := fields["ports"].(map[string]any)
	if !isObject {
		return notChecked("see " + stepShape)
	}
	for _, port := range []int{portA, portB} {
		told, there := given[strconv.Itoa(port)].(string)
		if !there {
			return fail(r.running, "port %d has no URL", port)
		}
		if !isURL(told) {
			return fail(r.running, "port %d has %q, which is no URL with a scheme and a host", port, told)
		}
	}
	return pass(r.running)
}

func checkDisplay(_ context.Context, r *run) outcome {
	fields, _ := r.running.object()
	told, given := fields["vnc_url"]
	text, isText := told.(string)
	switch {
	case !given || told == nil:
		return notOffered("the machine has no display that a person could open")
	case !isText:
		return notChecked("see " + stepShape)
	case !isURL(text):
		return fail(r.running, "%q is no URL with a scheme and a host", text)
	}
	return pass(r.running)
}

func isURL(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.Scheme != "" && parsed.Host != ""
}

func checkDate(_ context.Context, r *run) outcome {
	given := r.first.header.Get("Date")
	if given == "" {
		return notOffered("created_at and expires_at stay null")
	}
	if _, err := http.ParseTime(given); err != nil {
		return fail(r.first, "%q is no date", given)
	}
	return pass(r.first)
}
