package opensandbox

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// problem is one entry of a 422 answer. Input echoes what was sent, secrets and all: that is the real server's behaviour, and
// the reason why no client may print it.
type problem struct {
	Type  string         `json:"type"`
	Loc   []any          `json:"loc"`
	Msg   string         `json:"msg"`
	Input any            `json:"input"`
	Ctx   map[string]any `json:"ctx,omitempty"`
}

// checker reads a decoded JSON body as the server's body models do: unknown members are dropped without a word, problems are
// collected with their place, and all of them are told at once.
type checker struct{ problems []problem }

func (c *checker) add(kind string, loc []any, msg string, input any, ctx map[string]any) {
	c.problems = append(c.problems, problem{kind, loc, msg, input, ctx})
}

// ok reports whether nothing was found since mark: a model's own rules run only when its members are sound.
func (c *checker) ok(mark int) bool { return len(c.problems) == mark }
func (c *checker) mark() int        { return len(c.problems) }

func (c *checker) write(w http.ResponseWriter) {
	writeJSON(w, http.StatusUnprocessableEntity, map[string]any{"detail": c.problems})
}

// rule breaks a model's own rule. The framework shows the error object as {}.
func (c *checker) rule(loc []any, input any, message string) {
	c.add("value_error", loc, "Value error, "+message, input, map[string]any{"error": struct{}{}})
}

// at gives a place one step deeper.
func at(loc []any, step any) []any { return append(slices.Clip(loc), step) }

// member looks up a member that must not be missing (required) or that may be null or absent (not required).
func (c *checker) member(object map[string]any, loc []any, key string, required bool) (value any, place []any, found bool) {
	place = at(loc, key)
	value, present := object[key]
	switch {
	case !present && required:
		c.add("missing", place, "Field required", object, nil)
		return nil, place, false
	case !present, value == nil && !required:
		return nil, place, false
	}
	return value, place, true
}

// model reads a JSON object that stands for a model.
func (c *checker) model(value any, loc []any) (map[string]any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		c.add("model_attributes_type", loc, "Input should be a valid dictionary or object to extract fields from", value, nil)
	}
	return object, ok
}

// textRule is a rule of a string member.
type textRule func(c *checker, loc []any, text string) bool

func minLength(n int) textRule {
	return func(c *checker, loc []any, text string) bool {
		if utf8.RuneCountInString(text) >= n {
			return true
		}
		c.add("string_too_short", loc, fmt.Sprintf("String should have at least %d character%s", n, plural(n)), text, map[string]any{"min_length": n})
		return false
	}
}

func maxLength(n int) textRule {
	return func(c *checker, loc []any, text string) bool {
		if utf8.RuneCountInString(text) <= n {
			return true
		}
		c.add("string_too_long", loc, fmt.Sprintf("String should have at most %d character%s", n, plural(n)), text, map[string]any{"max_length": n})
		return false
	}
}

func pattern(expression string) textRule {
	compiled := regexp.MustCompile(expression)
	return func(c *checker, loc []any, text string) bool {
		if compiled.MatchString(text) {
			return true
		}
		c.add("string_pattern_mismatch", loc, fmt.Sprintf("String should match pattern '%s'", expression), text, map[string]any{"pattern": expression})
		return false
	}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func (c *checker) text(object map[string]any, loc []any, key string, required bool, rules ...textRule) (string, bool) {
	value, place, found := c.member(object, loc, key, required)
	if !found {
		return "", false
	}
	text, ok := value.(string)
	if !ok {
		c.add("string_type", place, "Input should be a valid string", value, nil)
		return "", false
	}
	for _, rule := range rules {
		if !rule(c, place, text) {
			return "", false
		}
	}
	return text, true
}

// truth reads a boolean with a default, which may be absent but not null. Like the real server it takes a few words for one.
func (c *checker) truth(object map[string]any, loc []any, key string, otherwise bool) bool {
	value, present := object[key]
	if !present {
		return otherwise
	}
	switch v := value.(type) {
	case bool:
		return v
	case string:
		if truth, ok := parseTruth(v); ok {
			return truth
		}
		c.add("bool_parsing", at(loc, key), "Input should be a valid boolean, unable to interpret input", value, nil)
	default:
		c.add("bool_type", at(loc, key), "Input should be a valid boolean", value, nil)
	}
	return otherwise
}

func parseTruth(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "y", "on", "t":
		return true, true
	case "false", "0", "no", "n", "off", "f":
		return false, true
	}
	return false, false
}

// whole reads a whole number; a string of digits counts as one, a fraction doesn't.
func (c *checker) whole(object map[string]any, loc []any, key string, required bool, low, high int64) (int64, bool) {
	value, place, found := c.member(object, loc, key, required)
	if !found {
		return 0, false
	}
	n, ok := c.parseWhole(value, place)
	return n, ok && c.within(n, place, value, low, high)
}

func (c *checker) parseWhole(value any, loc []any) (int64, bool) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	default:
		c.add("int_type", loc, "Input should be a valid integer", value, nil)
		return 0, false
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	switch _, isText := value.(string); {
	case err != nil || isText:
		c.add("int_parsing", loc, "Input should be a valid integer, unable to parse string as an integer", value, nil)
	case f == math.Trunc(f) && math.Abs(f) < math.MaxInt64:
		return int64(f), true
	case f == math.Trunc(f):
		return math.MaxInt64, true // too large for any rule, which is all that is asked of it
	default:
		c.add("int_from_float", loc, "Input should be a valid integer, got a number with a fractional part", value, nil)
	}
	return 0, false
}

func (c *checker) within(n int64, loc []any, input any, low, high int64) bool {
	if n < low {
		c.add("greater_than_equal", loc, fmt.Sprintf("Input should be greater than or equal to %d", low), input, map[string]any{"ge": low})
		return false
	}
	if n > high {
		c.add("less_than_equal", loc, fmt.Sprintf("Input should be less than or equal to %d", high), input, map[string]any{"le": high})
		return false
	}
	return true
}
