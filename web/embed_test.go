package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func get(h http.Handler, method, target string) *http.Response {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(method, target, nil))
	return rec.Result()
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	var b strings.Builder
	buf := make([]byte, 512)
	for {
		n, err := res.Body.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String()
		}
	}
}

func TestHandlerServesTheBuiltPage(t *testing.T) {
	h := handler(fstest.MapFS{
		"dist/.keep":             {},
		"dist/index.html":        {Data: []byte("<!doctype html>")},
		"dist/assets/app-1a2.js": {Data: []byte("start()")},
	})
	for _, c := range []struct {
		method, target string
		status         int
		kind, cache    string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", "no-cache"},
		{"HEAD", "/", 200, "text/html; charset=utf-8", "no-cache"},
		{"GET", "/assets/app-1a2.js", 200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		{"GET", "/.keep", 404, "", ""},
		{"GET", "/assets/", 404, "", ""},
		{"GET", "/assets", 404, "", ""},
		{"GET", "/../embed.go", 404, "", ""},
		{"POST", "/", 405, "", ""},
	} {
		res := get(h, c.method, c.target)
		if res.StatusCode != c.status {
			t.Errorf("%s %s: status %d, want %d", c.method, c.target, res.StatusCode, c.status)
		}
		if res.Header.Get("Content-Security-Policy") != CSP {
			t.Errorf("%s %s: no policy on the answer", c.method, c.target)
		}
		if c.status != 200 {
			continue
		}
		if got := res.Header.Get("Content-Type"); got != c.kind {
			t.Errorf("%s %s: type %q, want %q", c.method, c.target, got, c.kind)
		}
		if got := res.Header.Get("Cache-Control"); got != c.cache {
			t.Errorf("%s %s: cache %q, want %q", c.method, c.target, got, c.cache)
		}
	}
}

func TestHandlerWithoutAPageSaysHowToBuildIt(t *testing.T) {
	res := get(handler(fstest.MapFS{"dist/.keep": {}}), "GET", "/")
	if got := body(t, res); !strings.Contains(got, "make web") || res.StatusCode != 404 {
		t.Errorf("status %d, body %q: want 404 and the way to build", res.StatusCode, got)
	}
}

// Spec interfaces A2.2: no inline script, nothing evaluated.
func TestPolicyAllowsNoInlineScript(t *testing.T) {
	for _, part := range strings.Split(CSP, ";") {
		if strings.HasPrefix(strings.TrimSpace(part), "script-src") && strings.Contains(part, "unsafe") {
			t.Errorf("policy lets scripts in: %s", part)
		}
	}
}
