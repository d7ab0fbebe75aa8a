package httpapi

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/gin-gonic/gin"
)

const (
	keyRequestID = "request_id"
	keySubject   = "subject"
)

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func requestID(c *gin.Context) string { return c.GetString(keyRequestID) }

// observe assigns a request id, turns a panic into a problem, and writes the access log without
// query, headers or body.
func (s *Server) observe(c *gin.Context) {
	start := s.cfg.Now()
	id := c.GetHeader("X-Request-Id")
	if !requestIDForm.MatchString(id) {
		id = strings.ToLower(rand.Text())
	}
	c.Set(keyRequestID, id)
	c.Header("X-Request-Id", id)
	c.Request.Pattern = c.FullPath() // a bounded label for metrics
	s.guarded(c)
	s.cfg.Logger.InfoContext(
		c.Request.Context(), "request",
		slog.String("request_id", id), slog.String("method", c.Request.Method), slog.String("route", c.FullPath()),
		slog.Int("status", c.Writer.Status()), slog.Int("bytes", c.Writer.Size()),
		slog.Int64("duration_ms", s.cfg.Now().Sub(start).Milliseconds()), slog.String("subject", c.GetString(keySubject)),
	)
}

func (s *Server) guarded(c *gin.Context) {
	defer func() {
		caught := recover()
		if caught == nil {
			return
		}
		if err, ok := caught.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(caught) //nolint:forbidigo // net/http's own way to cut a connection
		}
		err := fmt.Errorf("panic: %v\n%s", caught, debug.Stack())
		if c.Writer.Written() {
			s.cfg.Logger.ErrorContext(c.Request.Context(), "request failed", slog.String("request_id", requestID(c)), slog.Any("error", err))
			panic(http.ErrAbortHandler) //nolint:forbidigo // half an answer must not look like a whole one
		}
		s.problems.fail(c, err)
	}()
	c.Next()
}

// harden sets security headers for browsers.
func (s *Server) harden(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	c.Next()
}
