package domainkit

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Handler fixes the manifest and returns a handler for the three endpoints. The caller must call
// Shutdown before it exits, so that running work can finish.
func (s *Service) Handler() (http.Handler, error) {
	b, err := s.build()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.serveHealth)
	mux.HandleFunc("GET /manifest", b.serveManifest)
	mux.HandleFunc("POST /execute", func(w http.ResponseWriter, r *http.Request) {
		s.write(w, r, s.executor.execute(w, r, b))
	})
	return s.guard(mux), nil
}

// guard authenticates requests and answers a panic with 500.
func (s *Service) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.answerPanic(w, r)
		if !s.authorized(r.Header.Get("Authorization")) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			s.write(w, r, refused(http.StatusUnauthorized, contracts.ErrUnauthorized, "a valid bearer token is required"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answerPanic recovers a panic; it must be deferred.
func (s *Service) answerPanic(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		s.log.ErrorContext(r.Context(), "request panicked", slog.Any("panic", p))
		s.write(w, r, refused(http.StatusInternalServerError, contracts.ErrInternal, "internal error"))
	}
}

// authorized compares the token with all configured ones in constant time.
func (s *Service) authorized(header string) bool {
	if len(s.config.Tokens) == 0 {
		return true
	}
	scheme, token, _ := strings.Cut(header, " ")
	got, fits := sha256.Sum256([]byte(token)), 0
	for _, known := range s.config.Tokens {
		want := sha256.Sum256([]byte(known))
		fits |= subtle.ConstantTimeCompare(got[:], want[:])
	}
	return fits == 1 && strings.EqualFold(scheme, "Bearer")
}

// reply is an HTTP response.
type reply struct {
	status     int
	body       any
	retryAfter time.Duration
}

// refused is the reply to a request that was not executed.
func refused(status int, errType, format string, args ...any) reply {
	message := fmt.Sprintf(format, args...)
	return reply{status: status, body: contracts.ToolResult{
		Summary: contracts.CleanSummary(message),
		Error:   Refusef(errType, "%s", message),
	}}
}

// write sends a reply. A body that cannot be encoded is answered with 500.
func (s *Service) write(w http.ResponseWriter, r *http.Request, out reply) {
	raw, err := json.Marshal(out.body)
	if err != nil {
		s.log.ErrorContext(r.Context(), "encode an answer", slog.Any("error", err))
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	if out.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(out.retryAfter.Seconds()))))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(out.status)
	if _, err := w.Write(raw); err != nil {
		s.log.DebugContext(r.Context(), "send an answer", slog.Any("error", err))
	}
}

func (b *build) serveManifest(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", b.etag)
	w.Header().Set("Cache-Control", "no-cache")
	if fitsETag(r.Header.Get("If-None-Match"), b.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b.raw)))
	_, _ = w.Write(b.raw) // the client is gone
}

// fitsETag compares weakly, as RFC 9110 requires for If-None-Match.
func fitsETag(header, etag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == etag {
			return true
		}
	}
	return false
}
