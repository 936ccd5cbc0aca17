package opensandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// specsVariable names the folder that holds the official API descriptions. They aren't part of the project.
const specsVariable = "OPENSANDBOX_SPECS"

// description is one official OpenAPI 3.1 description. Its schemas are JSON Schema of 2020-12.
type description struct {
	name     string
	document map[string]any
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema
	seen    map[string]int // "GET /sandboxes 200": how many answers were held against it
}

// official gives the descriptions by name, or nil when the variable isn't set.
var official = sync.OnceValues(func() (map[string]*description, error) {
	folder := os.Getenv(specsVariable)
	if folder == "" {
		return nil, nil
	}
	all := map[string]*description{}
	for name, file := range map[string]string{"lifecycle": "sandbox-lifecycle.yml", "execd": "execd-api.yaml", "egress": "egress-api.yaml"} {
		d, err := readDescription(name, filepath.Join(folder, file))
		if err != nil {
			return nil, err
		}
		all[name] = d
	}
	return all, nil
})

func readDescription(name, file string) (*description, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d := &description{name: name, schemas: map[string]*jsonschema.Schema{}, seen: map[string]int{}}
	if err := yaml.Unmarshal(text, &d.document); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	asJSON, err := json.Marshal(d.document)
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return nil, err
	}
	d.compiler = jsonschema.NewCompiler()
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource("mem:///"+name, document)
}

// at follows steps into the document, and references on the way; it gives where it came to as a JSON pointer too.
func (d *description) at(steps ...string) (value any, pointer string) {
	value, pointer = d.document, ""
	for _, step := range steps {
		object, _ := value.(map[string]any)
		if object == nil {
			return nil, ""
		}
		value = object[step]
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
		if referring, _ := value.(map[string]any); referring != nil {
			if reference, ok := referring["$ref"].(string); ok {
				value, pointer = d.at(strings.Split(strings.TrimPrefix(reference, "#/"), "/")...)
			}
		}
	}
	return value, pointer
}

// operation finds the description's path for a real one.
func (d *description) operation(path string) (template string, found bool) {
	paths, _ := d.document["paths"].(map[string]any)
	steps := strings.Split(path, "/")
	for template := range paths {
		parts := strings.Split(template, "/")
		if len(parts) == len(steps) && fits(parts, steps) {
			return template, true
		}
	}
	return "", false
}

func fits(parts, steps []string) bool {
	for i, part := range parts {
		if steps[i] == "" && part != "" || !strings.HasPrefix(part, "{") && part != steps[i] {
			return false
		}
	}
	return true
}

// violations says what is wrong with an answer, each as "where: what".
func (d *description) violations(method, template string, a answer) []string {
	status := strconv.Itoa(a.status)
	d.mu.Lock()
	d.seen[method+" "+template+" "+status]++
	d.mu.Unlock()
	operation, _ := d.at("paths", template, strings.ToLower(method))
	if operation == nil {
		return []string{"method: not described"}
	}
	response, pointer := d.at("paths", template, strings.ToLower(method), "responses", status)
	if response == nil {
		return []string{"status: not described"}
	}
	content, _ := response.(map[string]any)["content"].(map[string]any)
	if content == nil {
		if len(a.body) > 0 {
			return []string{"body: none is described"}
		}
		return nil
	}
	kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	if _, described := content[kind]; !described {
		return []string{"content type: " + kind + " is not described"}
	}
	schema := pointer + "/content/" + strings.ReplaceAll(kind, "/", "~1") + "/schema"
	var wrong []string
	for _, part := range documents(kind, a.body) {
		wrong = append(wrong, d.check(schema, part)...)
	}
	return wrong
}

// documents are the JSON texts of a body: each frame of a stream is one, plain text none.
func documents(kind string, body []byte) [][]byte {
	switch kind {
	case "application/json":
		return [][]byte{body}
	case "text/event-stream":
		return bytes.Split(bytes.TrimSuffix(body, []byte("\n\n")), []byte("\n\n"))
	}
	return nil
}

// check holds a JSON text against the schema that a pointer leads to.
func (d *description) check(pointer string, text []byte) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	schema := d.schemas[pointer]
	if schema == nil {
		var err error
		if schema, err = d.compiler.Compile("mem:///" + d.name + "#" + pointer); err != nil {
			return []string{"schema: " + err.Error()}
		}
		d.schemas[pointer] = schema
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return []string{"body: no JSON: " + err.Error()}
	}
	var problem *jsonschema.ValidationError
	if err := schema.Validate(value); errors.As(err, &problem) {
		return leaves(problem)
	}
	return nil
}

// leaves are the innermost causes, which name the place.
func leaves(problem *jsonschema.ValidationError) []string {
	if len(problem.Causes) == 0 {
		return []string{"/" + strings.Join(problem.InstanceLocation, "/") + ": " + strings.ReplaceAll(problem.Error(), "\n", " ")}
	}
	var all []string
	for _, cause := range problem.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// descriptions are the official ones; a folder that can't be read fails the test.
func descriptions(t *testing.T) map[string]*description {
	t.Helper()
	all, err := official()
	if err != nil {
		t.Fatalf("%s: %v", specsVariable, err)
	}
	return all
}
