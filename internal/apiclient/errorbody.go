package apiclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"
)

// describe finds the service's code and text in the body of an error answer, whatever Content-Type it claims: JSON in the shapes that services
// use, HTML of some proxy, or text.
func describe(body []byte) (code, text string) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return "", ""
	}
	var value any
	if json.Unmarshal(body, &value) == nil {
		return describeJSON(value)
	}
	switch body[0] {
	case '{', '[': // it may hold what was sent (a 422's input), and nothing of it can be told apart
		return "", fmt.Sprintf("an answer of %d bytes that is not valid JSON", len(body))
	case '<':
		return "", describeHTML(string(body))
	}
	return "", string(body)
}

// describeJSON takes {"error"}, {"code", "message"}, {"detail"} with a text or a list (RFC 9457, FastAPI's 422), and those nested in "error".
func describeJSON(value any) (code, text string) {
	switch value := value.(type) {
	case string:
		return "", value
	case []any:
		return "", describeList(value)
	case map[string]any:
		code, _ = value["code"].(string)
		for _, key := range []string{"message", "error", "detail", "errors", "msg", "title"} {
			innerCode, innerText := "", ""
			switch value[key].(type) {
			case string, map[string]any, []any:
				innerCode, innerText = describeJSON(value[key])
			}
			if innerText == "" {
				continue
			}
			if code == "" {
				code = innerCode
			}
			return code, innerText
		}
	}
	if code != "" {
		return code, ""
	}
	return "", compact(value)
}

// describeList joins the items of a list of errors. Of a 422's it takes where and what, never the input, which echoes the request.
func describeList(list []any) string {
	var items []string
	for _, entry := range list {
		item, isObject := entry.(map[string]any)
		message, isText := item["msg"].(string)
		if !isObject || !isText {
			_, text := describeJSON(entry)
			items = append(items, text)
			continue
		}
		if where, isList := item["loc"].([]any); isList {
			path := make([]string, len(where))
			for i, element := range where {
				path[i] = fmt.Sprint(element)
			}
			message = strings.Join(path, ".") + ": " + message
		}
		items = append(items, message)
	}
	return strings.Join(items, "; ")
}

// compact is what is shown of JSON in a shape that nobody has told us of.
func compact(value any) string {
	text, err := json.Marshal(withoutInput(value))
	if err != nil || value == nil {
		return ""
	}
	return string(text)
}

func withoutInput(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = withoutInput(value[i])
		}
	case map[string]any:
		delete(value, "input")
		delete(value, "ctx")
		for key := range value {
			value[key] = withoutInput(value[key])
		}
	}
	return value
}

var (
	titleElement  = regexp.MustCompile(`(?is)<(title|h1)\b[^>]*>(.*?)</(title|h1)\s*>`)
	hiddenElement = regexp.MustCompile(`(?is)<!--.*?-->|<(script|style)\b.*?</(script|style)\s*>`)
	anyTag        = regexp.MustCompile(`(?s)<[^>]*>`)
)

// describeHTML gives the page's title or first heading ("502 Bad Gateway"), else all its text.
func describeHTML(page string) string {
	page = hiddenElement.ReplaceAllString(page, " ")
	for _, found := range titleElement.FindAllStringSubmatch(page, -1) {
		if text := textOf(found[2]); text != "" {
			return text
		}
	}
	return textOf(page)
}

func textOf(markup string) string {
	return strings.TrimSpace(html.UnescapeString(anyTag.ReplaceAllString(markup, " ")))
}

// readable makes one short line of foreign text: valid UTF-8, no control characters (a terminal would obey them), at most so many characters.
func readable(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}
