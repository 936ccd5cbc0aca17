package faults

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Syntax is the help text for the form that Parse reads.
const Syntax = `  [METHOD] [PATH] [KIND] [key=value ...]

  METHOD  GET, POST, ...; any when left out
  PATH    exact (/v1/vms), a glob (/v1/vms/*) or a prefix that ends in a slash (/v1/); any when left out
  KIND    status        answer with status= instead of doing what was asked (the default where status= is given)
          status-after  do what was asked, then answer with status=
          reset-before  reset the connection without doing anything
          reset-after   do what was asked, then reset the connection
          cut           do it, send half of the answer, then end the connection
          garbage       do it, answer with something that is no JSON (or with body=)
          empty         do it, answer {}
          delay         do it after delay=
          hang          do it (with before=true: don't), never answer
          redirect      send the client to location=
          html          a gateway's 502 page
          endless       a body without end, 64 KiB each delay= (0s)
          slow          do it; the answer drips, a byte each delay= (1s)
  keys    status=503 retry-after=2 body='{"error":"x"}' header.X-Name=value location=URL delay=1.5s before=true
          skip=N (let N matching requests pass first)  times=N (how often; once when left out, -1 for ever)

  Examples: "POST /v1/vms status=503 retry-after=2 times=3", "GET /v1/vms/* reset-before skip=1", "delay=100ms times=-1"`

// Parse reads a fault as it stands on a command line; see Syntax.
func Parse(text string) (Fault, error) {
	words, err := split(text)
	if err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", text, err)
	}
	var f Fault
	for i, word := range words {
		key, value, hasValue := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "/"):
			f.Path = word
		case hasValue:
			err = f.set(key, value)
		case i == 0 && word == strings.ToUpper(word):
			f.Method = word
		default:
			f.Kind = Kind(word)
		}
		if err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", text, err)
		}
	}
	if f.Method == "*" || f.Method == "ANY" {
		f.Method = ""
	}
	if err := f.check(); err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", text, err)
	}
	return f, nil
}

func (f *Fault) set(key, value string) (err error) {
	switch key {
	case "method":
		f.Method = strings.ToUpper(value)
	case "path":
		f.Path = value
	case "kind":
		f.Kind = Kind(value)
	case "status":
		f.Status, err = strconv.Atoi(value)
	case "body":
		f.Body = value
	case "retry-after":
		f.RetryAfter = value
	case "location":
		f.Location = value
	case "delay":
		f.Delay, err = time.ParseDuration(value)
	case "before":
		f.Before, err = strconv.ParseBool(value)
	case "skip":
		f.Skip, err = strconv.Atoi(value)
	case "times":
		f.Times, err = strconv.Atoi(value)
	default:
		name, isHeader := strings.CutPrefix(key, "header.")
		if !isHeader || name == "" {
			return fmt.Errorf("unknown key %q", key)
		}
		if f.Header == nil {
			f.Header = map[string]string{}
		}
		f.Header[name] = value
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// split cuts at white space, except within single or double quotes, which it takes away.
func split(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	started := false
	for _, letter := range text {
		switch {
		case quote != 0 && letter == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(letter)
		case letter == '\'' || letter == '"':
			quote, started = letter, true
		case strings.ContainsRune(" \t\r\n", letter):
			if started {
				words = append(words, word.String())
				word.Reset()
				started = false
			}
		default:
			word.WriteRune(letter)
			started = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote isn't closed")
	}
	if started {
		words = append(words, word.String())
	}
	return words, nil
}
