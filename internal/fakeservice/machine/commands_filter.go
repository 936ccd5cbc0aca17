package machine

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

func filterCommands() map[string]command {
	return map[string]command{
		"sort": runSort, "uniq": runUniq, "cut": runCut, "tr": runTr, "seq": runSeq, "yes": runYes, "rev": runRev,
	}
}

func runSort(ctx context.Context, c *call) int {
	flags, names := c.options("kto")
	var lines []string
	size := 0
	code := c.lines(ctx, names, func(line string) error {
		if size += len(line) + 1; size > MaxFileSize {
			return ErrNoSpace
		}
		lines = append(lines, line)
		return nil
	})
	slices.SortStableFunc(lines, func(a, b string) int {
		order := strings.Compare(a, b)
		if has(flags, "n") {
			if by := number(leadingNumber(a)) - number(leadingNumber(b)); by != 0 {
				order = by
			}
		}
		if has(flags, "r") {
			return -order
		}
		return order
	})
	if has(flags, "u") {
		lines = slices.Compact(lines)
	}
	for _, line := range lines {
		fmt.Fprintln(c.out, line)
	}
	return code
}

func leadingNumber(line string) string {
	line = strings.TrimSpace(line)
	end := 0
	for end < len(line) && (line[end] >= '0' && line[end] <= '9' || end == 0 && line[end] == '-') {
		end++
	}
	return line[:end]
}

func runUniq(ctx context.Context, c *call) int {
	flags, names := c.options("")
	last, times := "", 0
	flush := func() {
		switch {
		case times == 0 || has(flags, "d") && times < 2:
		case has(flags, "c"):
			fmt.Fprintf(c.out, "%7d %s\n", times, last)
		default:
			fmt.Fprintln(c.out, last)
		}
	}
	code := c.lines(ctx, names, func(line string) error {
		if times > 0 && line == last {
			times++
			return nil
		}
		flush()
		last, times = line, 1
		return nil
	})
	flush()
	return code
}

// runCut is cut -d x -f list and cut -c list.
func runCut(ctx context.Context, c *call) int {
	flags, names := c.options("dfc")
	between, list := "\t", flags["f"]
	if has(flags, "d") {
		between = flags["d"]
	}
	if has(flags, "c") {
		between, list = "", flags["c"]
	}
	if list == "" || (between == "" && !has(flags, "c")) {
		return c.fail(1, "you must specify a list of fields or characters")
	}
	wanted, err := ranges(list)
	if err != nil {
		return c.fail(1, "invalid list '%s'", list)
	}
	return c.lines(ctx, names, func(line string) error {
		parts := strings.Split(line, between)
		if len(parts) == 1 && between != "" {
			_, err := fmt.Fprintln(c.out, line)
			return err
		}
		var kept []string
		for i, part := range parts {
			if wanted(i + 1) {
				kept = append(kept, part)
			}
		}
		_, err := fmt.Fprintln(c.out, strings.Join(kept, between))
		return err
	})
}

// ranges reads a list such as 1,3-5,7- and tells what is in it.
func ranges(list string) (func(int) bool, error) {
	type span struct{ from, to int }
	var spans []span
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		s := span{1, 1 << 30}
		var err error
		if from != "" {
			if s.from, err = strconv.Atoi(from); err != nil {
				return nil, err
			}
		}
		if !isRange {
			s.to = s.from
		} else if to != "" {
			if s.to, err = strconv.Atoi(to); err != nil {
				return nil, err
			}
		}
		spans = append(spans, s)
	}
	return func(n int) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.from <= n && n <= s.to })
	}, nil
}

// runTr is tr set1 set2 and tr -d set1, with ranges, \n and \t, and the classes upper, lower, digit and space.
func runTr(ctx context.Context, c *call) int {
	flags, sets := c.options("")
	if len(sets) == 0 || (len(sets) < 2 && !has(flags, "d", "s")) {
		return c.fail(1, "missing operand")
	}
	from, to := characters(sets[0]), ""
	if len(sets) > 1 {
		to = characters(sets[1])
	}
	data, err := io.ReadAll(io.LimitReader(c.in, MaxFileSize))
	if err != nil || ctx.Err() != nil {
		return 1
	}
	out := make([]byte, 0, len(data))
	for _, b := range data {
		at := strings.IndexByte(from, b)
		if has(flags, "c") {
			if at = -1; strings.IndexByte(from, b) < 0 {
				at = len(from)
			}
		}
		switch {
		case at < 0:
			out = append(out, b)
		case has(flags, "d"):
		case to == "":
			if len(out) == 0 || out[len(out)-1] != b {
				out = append(out, b)
			}
		default:
			out = append(out, to[min(at, len(to)-1)])
		}
	}
	if _, err := c.out.Write(out); err != nil {
		return 1
	}
	return 0
}

func characters(set string) string {
	set = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\0`, "\x00", `\\`, `\`, "[:upper:]", "A-Z", "[:lower:]", "a-z",
		"[:digit:]", "0-9", "[:space:]", " \t\n\r", "[:alnum:]", "A-Za-z0-9", "[:alpha:]", "A-Za-z").Replace(set)
	var all strings.Builder
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' && set[i] < set[i+2] {
			for b := set[i]; b < set[i+2]; b++ { // the last one apart: at 255 the counter would start again
				all.WriteByte(b)
			}
			all.WriteByte(set[i+2])
			i += 2
			continue
		}
		all.WriteByte(set[i])
	}
	return all.String()
}

func runSeq(ctx context.Context, c *call) int {
	_, words := c.options("")
	if len(words) == 0 || len(words) > 3 {
		return c.fail(1, "one to three operands are needed")
	}
	values := make([]int, len(words))
	for i, word := range words {
		var err error
		if values[i], err = strconv.Atoi(word); err != nil {
			return c.fail(1, "invalid integer argument: '%s'", word)
		}
	}
	from, step, to := 1, 1, values[len(values)-1]
	if len(values) > 1 {
		from = values[0]
	}
	if len(values) > 2 {
		step = values[1]
	}
	if step == 0 {
		return c.fail(1, "invalid Zero increment value")
	}
	for n := from; (step > 0 && n <= to || step < 0 && n >= to) && ctx.Err() == nil; n += step {
		if _, err := fmt.Fprintln(c.out, n); err != nil {
			return 1
		}
	}
	return 0
}

func runYes(ctx context.Context, c *call) int {
	word := "y"
	if len(c.args) > 0 {
		word = strings.Join(c.args, " ")
	}
	block := strings.Repeat(word+"\n", 512)
	for ctx.Err() == nil {
		if _, err := io.WriteString(c.out, block); err != nil {
			return 1
		}
	}
	return 1
}

func runRev(ctx context.Context, c *call) int {
	return c.lines(ctx, c.args, func(line string) error {
		letters := []rune(line)
		slices.Reverse(letters)
		_, err := fmt.Fprintln(c.out, string(letters))
		return err
	})
}
