package api

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"davit"
	"davit/internal/store"
	"davit/internal/wire"
)

// KeyHeader carries the key that a login gave, beside the cookie.
const KeyHeader = "Davit-Key"

// loginLinkLives is how long a fresh login link can be used.
const loginLinkLives = 10 * time.Minute

// who is the caller of a request, from its transport and never from its parameters.
type who struct {
	Key   string // the ledger's caller key: it survives a token's rotation (spec launch L6.1)
	Local bool   // over the socket
}

type whoKey struct{}

func caller(ctx context.Context) who {
	w, _ := ctx.Value(whoKey{}).(who)
	return w
}

// localUser is the one user that a host serves, by socket or by a login of the user's own
// browser: an operation id started here can be replayed there.
func localUser() string { return "user:" + strconv.Itoa(os.Geteuid()) }

func (s *Server) guardLocal(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		ctx := context.WithValue(r.Context(), whoKey{}, who{Key: localUser(), Local: true})
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// guardBrowser lets through what may come over TCP: the page itself, a login, and
// requests that show a token (spec interfaces A2).
func (s *Server) guardBrowser(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if err := s.checkPlace(r); err != nil {
			s.problem(w, err)
			return
		}
		open := !strings.HasPrefix(r.URL.Path, "/v1/") && r.URL.Path != "/metrics"
		upgrade := r.URL.Path == "/v1/stream" // its first frame brings the key
		switch {
		case open || r.URL.Path == "/v1/login":
		case upgrade:
			if _, err := s.cookie(r); err != nil && bearer(r) == "" {
				s.problem(w, err)
				return
			}
		default:
			if err := s.checkLogin(r, r.Header.Get(KeyHeader)); err != nil {
				s.problem(w, err)
				return
			}
		}
		ctx := context.WithValue(r.Context(), whoKey{}, who{Key: localUser()})
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// checkPlace refuses a name that is not ours (DNS rebinding), a foreign origin, and a
// body that a plain form could have sent.
func (s *Server) checkPlace(r *http.Request) error {
	allowed := s.cfg.Addresses()
	if !slices.Contains(allowed, r.Host) {
		return davit.Errorf(davit.CodeForbidden, "this is not the place that %q names", r.Host).WithHint("use the address that `davit status` prints")
	}
	stateChanging := r.Method != http.MethodGet && r.Method != http.MethodHead
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || !slices.Contains(allowed, u.Host) {
			return davit.Errorf(davit.CodeForbidden, "a page of %q may not ask davit", origin)
		}
	} else if (stateChanging || r.URL.Path == "/v1/stream") && bearer(r) == "" {
		return davit.Errorf(davit.CodeForbidden, "the request does not say which page it comes from").WithHint("scripts use a bearer token")
	}
	if site := r.Header.Get("Sec-Fetch-Site"); stateChanging && site != "" && site != "same-origin" {
		return davit.Errorf(davit.CodeForbidden, "the request comes from another site")
	}
	if stateChanging {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return davit.Errorf(davit.CodeInvalid, "the body is not application/json")
		}
	}
	return nil
}

func bearer(r *http.Request) string {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return token
}

func (s *Server) cookieName() string { return "davit_" + s.cfg.Instance }

var errNotLoggedIn = davit.Errorf(davit.CodeUnauthorized, "this browser is not logged in").WithHint("run `davit` in a terminal and open the link that it prints")

func (s *Server) cookie(r *http.Request) (store.WebSessionRow, error) {
	c, err := r.Cookie(s.cookieName())
	if err != nil {
		return store.WebSessionRow{}, errNotLoggedIn
	}
	row, found, err := s.cfg.Access.WebSession(r.Context(), store.Hash(c.Value))
	if err != nil {
		return row, err
	}
	if !found {
		return row, errNotLoggedIn
	}
	return row, nil
}

// checkLogin demands a bearer token, or cookie and key: a cookie alone is also sent to
// whatever server an agent starts on another port (A2.1).
func (s *Server) checkLogin(r *http.Request, key string) error {
	if token := bearer(r); token != "" {
		_, found, err := s.cfg.Access.Token(r.Context(), store.Hash(token))
		if err != nil {
			return err
		}
		if !found {
			return davit.Errorf(davit.CodeUnauthorized, "the token is not known")
		}
		return nil
	}
	row, err := s.cookie(r)
	if err != nil {
		return err
	}
	if key == "" || !hmac.Equal([]byte(store.Hash(key)), []byte(row.KeyHash)) {
		return errNotLoggedIn
	}
	return nil
}

// LoginLink mints a link with a one-time token in its fragment, which no server logs.
func (s *Server) LoginLink(ctx context.Context, base string) (wire.LoginLink, error) {
	token, expires := randomToken(), s.cfg.Now().Add(loginLinkLives)
	if err := s.cfg.Access.PutLogin(ctx, store.Hash(token), expires); err != nil {
		return wire.LoginLink{}, err
	}
	return wire.LoginLink{URL: base + "/#login=" + token, Expires: expires}, nil
}

func randomToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // crypto/rand does not fail
	return hex.EncodeToString(b)
}

// loginOutput is a login's answer: the key in the body, the cookie beside it.
type loginOutput struct {
	SetCookie    http.Cookie `header:"Set-Cookie"`
	CacheControl string      `header:"Cache-Control"`
	Body         wire.LoggedIn
}

// loginInput names the browser, for the list of logins.
type loginInput struct {
	UserAgent string `header:"User-Agent"`
	Body      wire.Login
}

// login trades a one-time token for a cookie and a key.
func (s *Server) login(ctx context.Context, in *loginInput) (*loginOutput, error) {
	if !s.logins.allow(s.cfg.Now()) {
		return nil, problemOf(davit.Errorf(davit.CodeRateLimited, "too many failed logins").WithHint("wait a minute"))
	}
	ok, err := s.cfg.Access.TakeLogin(ctx, store.Hash(in.Body.Token), s.cfg.Now())
	if err != nil {
		return nil, problemOf(err)
	}
	if !ok {
		s.logins.note(s.cfg.Now())
		return nil, problemOf(davit.Errorf(davit.CodeUnauthorized, "the link was used before, or is too old").WithHint("run `davit` for a fresh one"))
	}
	cookie, key, now := randomToken(), randomToken(), s.cfg.Now()
	row := store.WebSessionRow{CookieHash: store.Hash(cookie), KeyHash: store.Hash(key), Created: now, LastSeen: now, Label: in.UserAgent}
	if err := s.cfg.Access.PutWebSession(ctx, row); err != nil {
		return nil, problemOf(err)
	}
	return &loginOutput{
		SetCookie:    http.Cookie{Name: s.cookieName(), Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: 365 * 24 * 3600},
		CacheControl: "no-store",
		Body:         wire.LoggedIn{Key: key},
	}, nil
}

// failures counts failed logins; ten in a minute close the door for the rest of it.
type failures struct {
	mu    sync.Mutex // guards times
	times []time.Time
}

func (f *failures) allow(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times = slices.DeleteFunc(f.times, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	return len(f.times) < 10
}

func (f *failures) note(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times = append(f.times, now)
}

// LocalAddresses are the names under which a loopback listener may be asked for.
func LocalAddresses(addr net.Addr) []string {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil
	}
	return []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("localhost", port), net.JoinHostPort("::1", port)}
}
