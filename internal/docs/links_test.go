package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced   = regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```\\s*$")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+\s+(.+?)\s*$`)
	anchorID = regexp.MustCompile(`<a id="([^"]+)">`)
	notSlug  = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

// TestLinksLead looks at links within the project; those to other sites are left out, since tests reach none.
func TestLinksLead(t *testing.T) {
	t.Parallel()
	for _, page := range markdownFiles(t) {
		text := readPage(t, page)
		for _, match := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			target := match[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
				if _, err := os.Stat(to); err != nil {
					to += ".md" // the registry takes links to pages without their suffix
				}
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s links to %s, which isn't there", page, target)
					continue
				}
			}
			if anchor != "" && !hasAnchor(readPage(t, to), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, target)
			}
		}
	}
}

func markdownFiles(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"docs", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") {
				pages = append(pages, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func hasAnchor(text, anchor string) bool {
	for _, match := range anchorID.FindAllStringSubmatch(text, -1) {
		if match[1] == anchor {
			return true
		}
	}
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		slug := strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")
		if slug == anchor {
			return true
		}
	}
	return false
}
