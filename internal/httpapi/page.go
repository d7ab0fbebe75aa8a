package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// Page is the web page that is served beside the API. It gives types and caching of
// its files; what keeps browsers from harm is set here.
type Page struct {
	Handler http.Handler
	// Has reports whether a path is the page's own.
	Has func(path string) bool
}

// pagePolicy lets the page load what this server serves, and nothing inline.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; " +
	"manifest-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// noRoute serves the page where no route is, and else says that there is nothing.
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
	c.Status(http.StatusOK) // without a route it would be 404
	s.page.Handler.ServeHTTP(c.Writer, c.Request)
}
