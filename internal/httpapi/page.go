package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// Page is the web page that is served beside the API. The handler sets content types and caching; the
// security headers are set here.
type Page struct {
	Handler http.Handler
	// Has reports whether a path belongs to the page.
	Has func(path string) bool
}

// pagePolicy lets the page load resources of this server only, and nothing inline.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; " +
	"manifest-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// noRoute serves the page for its own paths, and a not-found problem for all others.
func (s *Server) noRoute(c *gin.Context) {
	read := c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead
	if s.page.Handler == nil || !read || !s.page.Has(c.Request.URL.Path) {
		s.problems.noRoute(c)
		return
	}
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	c.Status(http.StatusOK) // without a route, gin would answer 404
	s.page.Handler.ServeHTTP(c.Writer, c.Request)
}
