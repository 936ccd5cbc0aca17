package opensandbox

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

func (c *client) list(query string) (ids []string, page object) {
	c.t.Helper()
	got := c.get("/v1/sandboxes?" + query).want(http.StatusOK)
	return got.ids(), got.object("pagination")
}

// "List: newest first; page past the end 200 and empty", "pageSize <= 200", 422 for what is no page.
func TestListPages(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	var ids []string
	for range 5 {
		ids = append(ids, c.create(nil))
		c.clock.Advance(time.Second)
	}
	got, page := c.list("pageSize=2&page=2")
	if !reflect.DeepEqual(got, []string{ids[2], ids[1]}) {
		t.Errorf("page 2: %v of %v", got, ids)
	}
	if want := (object{"page": 2.0, "pageSize": 2.0, "totalItems": 5.0, "totalPages": 3.0, "hasNextPage": true}); !reflect.DeepEqual(page, want) {
		t.Errorf("pagination %v", page)
	}
	got, page = c.list("pageSize=2&page=9")
	if len(got) != 0 || page["hasNextPage"] != false || page["totalItems"] != 5.0 {
		t.Errorf("past the end: %v, %v", got, page)
	}
	if got := c.get("/v1/sandboxes?page=9").String(); !strings.Contains(got, `"items":[]`) {
		t.Errorf("past the end: %s", got)
	}
	for query, want := range map[string]string{
		"page=0":       "query.page: greater_than_equal: Input should be greater than or equal to 1",
		"page=x":       "query.page: int_parsing: Input should be a valid integer, unable to parse string as an integer",
		"pageSize=201": "query.pageSize: less_than_equal: Input should be less than or equal to 200",
		"pageSize=":    "query.pageSize: int_parsing: Input should be a valid integer, unable to parse string as an integer",
	} {
		if got := c.get("/v1/sandboxes?" + query).details(); !reflect.DeepEqual(got, []string{want}) {
			t.Errorf("%s: %q", query, got)
		}
	}
}

// "state repeated; metadata one parameter k=v&k2=v2, which the server decodes twice"; "metadata malformed 400 INVALID_METADATA_FORMAT";
// "sandbox states match whatever their case".
func TestListFilters(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{})
	one := c.create(object{"metadata": object{"team": "a", "note": "", "agentenv.dev/create-id": "x.y_z-1"}})
	two := c.create(object{"metadata": object{"team": "b"}, "entrypoint": []string{"false"}})
	c.do("POST", "/v1/sandboxes/"+one+"/pause", nil).want(http.StatusAccepted)
	twice := func(pairs ...string) string {
		var inner []string
		for i := 0; i < len(pairs); i += 2 {
			inner = append(inner, url.QueryEscape(pairs[i])+"="+url.QueryEscape(pairs[i+1]))
		}
		return "metadata=" + url.QueryEscape(strings.Join(inner, "&"))
	}
	for query, want := range map[string][]string{
		"state=paused":                                {one},
		"state=FAILED&state=Paused":                   {two, one},
		"state=Running":                               nil,
		twice("team", "a"):                            {one},
		twice("team", "a", "note", ""):                {one},
		twice("team", "a", "note", "x"):               nil,
		twice("agentenv.dev/create-id", "x.y_z-1"):    {one},
		twice("nothing", ""):                          nil,
		twice("team", "b") + "&state=failed":          {two},
		"metadata=":                                   {two, one},
		"metadata=team%3Dz&" + twice("team", "a"):     {one},
		"metadata=" + url.QueryEscape("team=a&note="): {one},
	} {
		if got, _ := c.list(query); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	c.get("/v1/sandboxes?metadata=broken").wantError(http.StatusBadRequest, "INVALID_METADATA_FORMAT")
	c.get("/v1/sandboxes?metadata="+url.QueryEscape("a=1&broken")).wantError(http.StatusBadRequest, "INVALID_METADATA_FORMAT")
	special := c.create(nil) // a value that only a second decoding gives back
	value := "100% a+b&c=d"
	c.service.SetMetadata(special, map[string]*string{"odd": &value})
	if got, _ := c.list(twice("odd", value)); !reflect.DeepEqual(got, []string{special}) {
		t.Errorf("encoded twice: %v", got)
	}
	if got, _ := c.list("metadata=" + url.QueryEscape("odd="+value)); got != nil {
		t.Errorf("encoded once: %v", got)
	}
}

// An empty list proves nothing yet (public #1273): a sandbox may show up in lists later than it answers GET.
func TestListLag(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{ListLag: 3 * time.Second})
	id := c.create(nil)
	c.get("/v1/sandboxes/" + id).want(http.StatusOK)
	if got, _ := c.list(""); got != nil {
		t.Errorf("listed at once: %v", got)
	}
	c.clock.Advance(3 * time.Second)
	if got, _ := c.list(""); len(got) != 1 {
		t.Errorf("not listed: %v", got)
	}
}
