package machine

import (
	"bufio"
	"bytes"
	"context"
	"crypto/md5"  //nolint:gosec // md5sum is a command that scripts use; nothing here is protected by it
	"crypto/sha1" //nolint:gosec // likewise
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"regexp"
	"strconv"
	"strings"
)

func textCommands() map[string]command {
	return map[string]command{
		"head": runHead, "tail": runTail, "wc": runWc, "grep": runGrep, "egrep": runGrep, "fgrep": runGrep, "base64": runBase64,
		"sha256sum": runSum(sha256.New), "sha1sum": runSum(sha1.New), "md5sum": runSum(md5.New),
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

var errEnough = errors.New("enough")

// count reads how many lines or bytes head and tail shall show: -n 3, -3, -c 10.
func (c *call) count() (lines, size int, names []string) {
	lines, size = 10, -1
	if len(c.args) > 0 && len(c.args[0]) > 1 && c.args[0][0] == '-' && strings.Trim(c.args[0][1:], "0123456789") == "" {
		return number(c.args[0][1:]), size, c.args[1:]
	}
	flags, names := c.options("nc")
	if has(flags, "n") {
		lines = number(flags["n"])
	}
	if has(flags, "c") {
		size = number(flags["c"])
	}
	return lines, size, names
}

func runHead(ctx context.Context, c *call) int {
	lines, size, names := c.count()
	if size >= 0 {
		return c.inputs(names, func(_ string, r io.Reader) error { return copyTo(ctx, c.out, io.LimitReader(r, int64(size))) })
	}
	seen := 0
	code := c.lines(ctx, names, func(line string) error {
		if seen >= lines {
			return errEnough
		}
		seen++
		_, err := fmt.Fprintln(c.out, line)
		return err
	})
	if seen >= lines {
		return 0
	}
	return code
}

func runTail(ctx context.Context, c *call) int {
	lines, size, names := c.count()
	return c.inputs(names, func(_ string, r io.Reader) error {
		var kept bytes.Buffer
		if err := copyTo(ctx, &kept, io.LimitReader(r, MaxFileSize)); err != nil {
			return err
		}
		data := kept.Bytes()
		var start int
		if size >= 0 {
			start = max(len(data)-size, 0)
		} else {
			start = len(data) - len(lastLines(data, lines))
		}
		_, err := c.out.Write(data[start:])
		return err
	})
}

func lastLines(data []byte, lines int) []byte {
	at := len(bytes.TrimSuffix(data, []byte("\n")))
	if lines <= 0 {
		return nil
	}
	for ; lines > 0 && at >= 0; lines-- {
		at = bytes.LastIndexByte(data[:at], '\n')
	}
	return data[at+1:]
}

func runWc(ctx context.Context, c *call) int {
	flags, names := c.options("")
	return c.inputs(names, func(name string, r io.Reader) error {
		lines, words, size := 0, 0, 0
		reader := bufio.NewReader(r)
		inWord := false
		for ctx.Err() == nil {
			b, err := reader.ReadByte()
			if err != nil {
				break
			}
			size++
			space := b == ' ' || b == '\n' || b == '\t' || b == '\r'
			if b == '\n' {
				lines++
			}
			if !space && !inWord {
				words++
			}
			inWord = !space
		}
		var fields []string
		for _, count := range []struct {
			flag  string
			value int
		}{{"l", lines}, {"w", words}, {"c", size}} {
			if len(flags) == 0 || has(flags, count.flag) {
				fields = append(fields, strconv.Itoa(count.value))
			}
		}
		if name != "-" {
			fields = append(fields, name)
		}
		_, err := fmt.Fprintln(c.out, strings.Join(fields, " "))
		return err
	})
}

func runGrep(ctx context.Context, c *call) int {
	flags, names := c.options("emA")
	pattern, given := flags["e"]
	if !given {
		if len(names) == 0 {
			return c.fail(exitUsage, "missing pattern")
		}
		pattern, names = names[0], names[1:]
	}
	if has(flags, "F") || c.name == "fgrep" {
		pattern = regexp.QuoteMeta(pattern)
	}
	if has(flags, "x") {
		pattern = "^(?:" + pattern + ")$"
	}
	if has(flags, "w") {
		pattern = `\b(?:` + pattern + `)\b`
	}
	if has(flags, "i") {
		pattern = "(?i)" + pattern
	}
	matcher, err := regexp.Compile(pattern)
	if err != nil {
		return c.fail(exitUsage, "%v", err)
	}
	found := 0
	code := c.lines(ctx, names, func(line string) error {
		if matcher.MatchString(line) == has(flags, "v") {
			return nil
		}
		found++
		switch {
		case has(flags, "q", "quiet"):
			return errEnough
		case has(flags, "c"):
		case has(flags, "o"):
			fmt.Fprintln(c.out, matcher.FindString(line))
		default:
			fmt.Fprintln(c.out, line)
		}
		return nil
	})
	if has(flags, "c") {
		fmt.Fprintln(c.out, found)
	}
	switch {
	case found > 0:
		return 0
	case code > 0:
		return exitUsage
	}
	return 1
}

func runBase64(_ context.Context, c *call) int {
	flags, names := c.options("w")
	return c.inputs(names, func(_ string, r io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(r, MaxFileSize))
		if err != nil {
			return err
		}
		if has(flags, "d", "decode", "D") {
			decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(data)), ""))
			if err != nil {
				c.fail(1, "invalid input")
				return err
			}
			_, err = c.out.Write(decoded)
			return err
		}
		text, width := base64.StdEncoding.EncodeToString(data), 76
		if has(flags, "w") {
			width = number(flags["w"])
		}
		for width > 0 && len(text) > width {
			fmt.Fprintln(c.out, text[:width])
			text = text[width:]
		}
		if width == 0 {
			_, err = fmt.Fprint(c.out, text)
		} else {
			_, err = fmt.Fprintln(c.out, text)
		}
		return err
	})
}

func runSum(algorithm func() hash.Hash) command {
	return func(ctx context.Context, c *call) int {
		_, names := c.options("")
		return c.inputs(names, func(name string, r io.Reader) error {
			sum := algorithm()
			if err := copyTo(ctx, sum, r); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.out, "%s  %s\n", hex.EncodeToString(sum.Sum(nil)), name)
			return err
		})
	}
}
