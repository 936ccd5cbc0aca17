package opensandbox

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/agentenv/terraform-provider-gpuvm/internal/apiclient"
)

const (
	// pageSize is the most that a server gives at once.
	pageSize = 200
	// maxPages is more than any server holds: a list that goes on after them has no end.
	maxPages = 1000
)

// list walks all pages of a collection. What is made or deleted meanwhile shifts the pages, so an item that comes twice
// is given once; a server that says there is more and gives nothing new ends the walk.
func list[T any](ctx context.Context, c *Client, collection string, query url.Values, id func(T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		seen := map[string]bool{}
		for number, more := 1, true; more; number++ {
			if number > maxPages {
				yield(none, &MalformedError{Asked: asked(http.MethodGet, collection), Reason: "there is no end of its pages"})
				return
			}
			items, hasNext, err := page[T](ctx, c, collection, query, number)
			if err != nil {
				yield(none, err)
				return
			}
			more = false
			for _, item := range items {
				if seen[id(item)] {
					continue
				}
				seen[id(item)], more = true, hasNext
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

func page[T any](ctx context.Context, c *Client, collection string, query url.Values, number int) (items []T, hasNext bool, err error) {
	query = maps.Clone(query)
	query.Set("page", strconv.Itoa(number))
	query.Set("pageSize", strconv.Itoa(pageSize))
	var answer struct {
		Items      []T `json:"items"`
		Pagination struct {
			HasNextPage bool `json:"hasNextPage"`
		} `json:"pagination"`
	}
	_, err = c.http.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: []string{collection}, Query: query}, &answer)
	if err != nil {
		return nil, false, err
	}
	if answer.Items == nil {
		// Taken for an empty list, such an answer would make a sandbox look as if it had never been made.
		return nil, false, &MalformedError{Asked: asked(http.MethodGet, collection), Reason: "it has no items"}
	}
	return answer.Items, answer.Pagination.HasNextPage, nil
}
