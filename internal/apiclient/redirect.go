package apiclient

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

const maxRedirects = 5

// checkRedirect follows a GET or HEAD within one origin; what it refuses becomes the answer, and refusedRedirect says why. Nothing secret
// ever leaves the origin.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if whyRefused(via[0].Method, via[0].URL, next.URL) != "" || len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}

func whyRefused(method string, from, to *url.URL) string {
	switch {
	case !sameOrigin(from, to):
		return "which is another scheme, host or port than the configured address has"
	case method != http.MethodGet && method != http.MethodHead:
		return "a " + method + " is not redirected; check scheme and path of the configured address"
	}
	return ""
}

// sameOrigin: RFC 6454 section 5.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	if strings.EqualFold(u.Scheme, "https") {
		return "443"
	}
	return "80"
}

func refusedRedirect(method string, from *url.URL, location string) error {
	to, err := from.Parse(location)
	if location == "" || err != nil {
		return &final{err: errors.New("redirected, but not to a valid URL")}
	}
	why := whyRefused(method, from, to)
	if why == "" {
		why = "too many times"
	}
	return &final{err: errors.New("redirected to " + shown(to)), hint: why}
}
