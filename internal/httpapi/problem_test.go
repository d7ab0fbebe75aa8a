package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/manifold-run/manifold/contracts"
)

func TestEveryCodeIsAProblemWithAStatus(t *testing.T) {
	t.Parallel()
	for _, code := range contracts.Codes() {
		p := problemOf(fmt.Errorf("claim node n1: %w", contracts.Errorf(code, "the reason")))
		if p.Status < 400 || p.Status != status(code) || p.Title == "" || p.Code != code || p.Type == "" {
			t.Errorf("%s: %+v", code, p)
		}
		if told := strings.Contains(p.Detail, "the reason"); told == (code == contracts.CodeInternal) {
			t.Errorf("%s tells %q", code, p.Detail)
		}
	}
	if status("no such code") != 0 {
		t.Error("an unknown code has a status")
	}
}

func TestWhatHasNoCodeStaysInTheLog(t *testing.T) {
	t.Parallel()
	p := problemOf(errors.New("password=secret"))
	if p.Status != http.StatusInternalServerError || strings.Contains(p.Detail, "secret") {
		t.Errorf("%+v", p)
	}
}

// bare returns a server with one route of its own and no use cases.
func bare(t *testing.T, handle func(*gin.Context)) (http.Handler, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	s := &Server{cfg: Config{Now: time.Now, Logger: logger}, problems: &problems{logger: logger}}
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(s.observe, s.harden)
	engine.GET("/", handle)
	return engine, log
}

func TestAPanicIsAProblemAndItsTextStaysInTheLog(t *testing.T) {
	t.Parallel()
	handler, log := bare(t, func(*gin.Context) { panic("the secret cause") }) //nolint:forbidigo // what is tested
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	var p contracts.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if w.Code != 500 || p.Code != contracts.CodeInternal || p.RequestID == "" || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "the secret cause") || !strings.Contains(log.String(), p.RequestID) {
		t.Errorf("log: %s", log)
	}
}

func TestAPanicInTheMiddleOfAnAnswerCutsTheConnection(t *testing.T) {
	t.Parallel()
	handler, log := bare(t, func(c *gin.Context) {
		_, _ = c.Writer.WriteString(`{"half":`)
		panic("too late") //nolint:forbidigo // what is tested
	})
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("caught %v", err)
		}
		if !strings.Contains(log.String(), "too late") {
			t.Errorf("log: %s", log)
		}
	}()
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
}

func TestAWishThatCannotBeEncodedIsStillAProblem(t *testing.T) {
	t.Parallel()
	p := &problems{logger: slog.New(slog.DiscardHandler)}
	handler, _ := bare(t, func(c *gin.Context) {
		err := contracts.Errorf(contracts.CodeConflict, "no")
		err.Detail = func() {}
		p.fail(c, err)
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), `"code":"conflict"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
