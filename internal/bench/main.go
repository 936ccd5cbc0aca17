// Command bench measures both providers beside Terraform's own floor and prints tables. `make bench` runs it; nothing
// is judged by it, so that no test depends on how fast a machine is.
//
// What is the floor: as many terraform_data resources that carry the same values, which Terraform serves by itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
)

func main() {
	if os.Getenv(magicCookie) != "" {
		if err := serveBare(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var b bench
	var sizes, parallelisms string
	flag.StringVar(&b.terraform, "terraform", "terraform", "Terraform or OpenTofu program")
	flag.StringVar(&b.programs, "bin", ".bin", "folder with the built providers")
	flag.StringVar(&sizes, "n", "50,500,1000", "numbers of resources")
	flag.StringVar(&parallelisms, "parallelism", "10,50", "values of -parallelism")
	flag.IntVar(&b.rounds, "rounds", 3, "rounds, of which the medians are shown")
	only := flag.String("only", "scale,latency,boot,start,price", "tables to make")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, numbers(sizes), numbers(parallelisms), strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

// bench is one run of the program.
type bench struct {
	terraform, programs string
	rounds              int
}

func (b bench) run(ctx context.Context, sizes, parallelisms []int, tables []string) error {
	by := map[string]func() error{
		"scale":   func() error { return b.scale(ctx, sizes, parallelisms) },
		"latency": func() error { return b.latency(ctx) },
		"boot":    func() error { return b.boots(ctx) },
		"start":   func() error { return b.starts(ctx) },
		"price":   func() error { return b.prices(ctx) },
	}
	if err := b.describe(ctx); err != nil {
		return err
	}
	for _, name := range tables {
		table, ok := by[name]
		if !ok {
			return fmt.Errorf("there is no table %q", name)
		}
		if err := table(); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return nil
}

func numbers(list string) []int {
	var all []int
	for text := range strings.SplitSeq(list, ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n > 0 {
			all = append(all, n)
		}
	}
	return all
}
