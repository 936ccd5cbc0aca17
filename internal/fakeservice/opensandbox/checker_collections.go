package opensandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// maxBody bounds the JSON bodies of the lifecycle API, in bytes.
const maxBody = 4 << 20

// decodeBody reads a request's JSON. When it is no JSON the problem is noted and false returned; an empty body is nil.
func (c *checker) decodeBody(r *http.Request) (value any, ok bool) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		c.add("json_invalid", []any{"body", 0}, "JSON decode error", struct{}{}, map[string]any{"error": "the body could not be read"})
		return nil, false
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, true
	}
	if kind := r.Header.Get("Content-Type"); kind != "" && !strings.Contains(strings.ToLower(kind), "json") {
		return string(raw), true // then the framework hands over the text, which is no model
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	if err == nil && decoder.More() {
		err = errors.New("extra data")
	}
	if err != nil {
		c.add("json_invalid", []any{"body", decoder.InputOffset()}, "JSON decode error", struct{}{}, map[string]any{"error": err.Error()})
		return nil, false
	}
	return value, true
}

// bodyModel reads a request's body as a model; required says whether it may be empty.
func (c *checker) bodyModel(r *http.Request, required bool) map[string]any {
	value, ok := c.decodeBody(r)
	switch {
	case !ok:
		return nil
	case value == nil && required:
		c.add("missing", []any{"body"}, "Field required", nil, nil)
		return nil
	case value == nil:
		return map[string]any{}
	}
	object, _ := c.model(value, []any{"body"})
	return object
}

// texts reads an object of strings. With nullable a member may be null and is then given as nil.
func (c *checker) texts(value any, loc []any, nullable bool) map[string]*string {
	object, ok := value.(map[string]any)
	if !ok {
		c.add("dict_type", loc, "Input should be a valid dictionary", value, nil)
		return nil
	}
	result := make(map[string]*string, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch v := object[key].(type) {
		case string:
			result[key] = &v
		case nil:
			if nullable {
				result[key] = nil
				continue
			}
			c.add("string_type", at(loc, key), "Input should be a valid string", nil, nil)
		default:
			c.add("string_type", at(loc, key), "Input should be a valid string", v, nil)
		}
	}
	return result
}

// textMap reads an optional object of strings; nulls are dropped where they are allowed. Absent gives nil.
func (c *checker) textMap(object map[string]any, loc []any, key string, nullable bool) map[string]string {
	value, place, found := c.member(object, loc, key, false)
	if !found {
		return nil
	}
	result := map[string]string{}
	for name, text := range c.texts(value, place, nullable) {
		if text != nil {
			result[name] = *text
		}
	}
	return result
}

// list reads an array; minimum is the least number of items.
func (c *checker) list(value any, loc []any, minimum int) []any {
	items, ok := value.([]any)
	if !ok {
		c.add("list_type", loc, "Input should be a valid list", value, nil)
		return nil
	}
	if len(items) < minimum {
		c.add("too_short", loc, fmt.Sprintf("List should have at least %d item%s after validation, not %d", minimum, plural(minimum), len(items)), value,
			map[string]any{"field_type": "List", "min_length": minimum, "actual_length": len(items)})
		return nil
	}
	return items
}

// textList reads an array of strings. Absent gives nil.
func (c *checker) textList(object map[string]any, loc []any, key string, required bool, minimum int) []string {
	value, place, found := c.member(object, loc, key, required)
	if !found {
		return nil
	}
	items := c.list(value, place, minimum)
	var result []string
	for i, item := range items {
		text, ok := item.(string)
		if !ok {
			c.add("string_type", at(place, i), "Input should be a valid string", item, nil)
			continue
		}
		result = append(result, text)
	}
	return result
}
