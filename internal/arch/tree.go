package arch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// File is a file of the repository.
type File struct {
	// Path is slash-separated and relative to the module root.
	Path string
	Src  []byte
}

// Dir returns the folder of the file; "." is the module root.
func (f File) Dir() string { return path.Dir(f.Path) }

// IsGo reports whether the file is Go source.
func (f File) IsGo() bool { return strings.HasSuffix(f.Path, ".go") }

// IsTest reports whether the file is a Go test.
func (f File) IsTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

// inTestdata reports whether the go command ignores the file because of its folder.
func (f File) inTestdata() bool {
	return slices.ContainsFunc(strings.Split(f.Dir(), "/"), func(part string) bool {
		return part == "testdata" || strings.HasPrefix(part, "_")
	})
}

// lineAt returns the line number of a byte offset.
func (f File) lineAt(offset int) int {
	return 1 + bytes.Count(f.Src[:offset], []byte{'\n'})
}

// Finding is one violation of a rule.
type Finding struct {
	Path string
	// Line is 0 if the finding concerns the whole file.
	Line int
	Text string
}

// String returns the finding in the format of compiler errors.
func (f Finding) String() string {
	if f.Line == 0 {
		return f.Path + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text)
}

// Tree contains the files of the repository, sorted by path.
type Tree struct {
	Files []File
}

// Load reads every file below root that .gitignore does not exclude.
func Load(root fs.FS) (*Tree, error) {
	ignored, err := readIgnore(root)
	if err != nil {
		return nil, err
	}
	tree := &Tree{}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // deleted since its folder was listed
		case err != nil:
			return err
		case d.IsDir() && ignored.matches(name, true):
			return fs.SkipDir
		case !d.Type().IsRegular() || ignored.matches(name, false):
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		tree.Files = append(tree.Files, File{Path: name, Src: src})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the repository: %w", err)
	}
	slices.SortFunc(tree.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return tree, nil
}

// ignore is the subset of the .gitignore syntax that this repository uses.
type ignore struct {
	anchored []string // "/path", from the root
	folders  []string // "name/", anywhere
	names    []string // "*.ext", anywhere
}

func readIgnore(root fs.FS) (ignore, error) {
	ig := ignore{names: []string{".git"}}
	src, err := fs.ReadFile(root, ".gitignore")
	if errors.Is(err, fs.ErrNotExist) {
		return ig, nil
	}
	if err != nil {
		return ig, fmt.Errorf("read .gitignore: %w", err)
	}
	for line := range strings.Lines(string(src)) {
		if err := ig.add(strings.TrimSpace(line)); err != nil {
			return ig, err
		}
	}
	return ig, nil
}

func (ig *ignore) add(line string) error {
	folder, isFolder := strings.CutSuffix(line, "/")
	switch {
	case line == "" || strings.HasPrefix(line, "#"):
	case strings.HasPrefix(line, "!") || strings.Contains(line, "**"):
		return fmt.Errorf("read .gitignore: pattern %q is not understood here", line)
	case strings.HasPrefix(line, "/"):
		ig.anchored = append(ig.anchored, strings.Trim(line, "/"))
	case strings.Contains(folder, "/"):
		return fmt.Errorf("read .gitignore: pattern %q must begin with a slash", line)
	case isFolder:
		ig.folders = append(ig.folders, folder)
	default:
		ig.names = append(ig.names, line)
	}
	return nil
}

func (ig *ignore) matches(name string, isDir bool) bool {
	base := path.Base(name)
	fits := func(subject string) func(string) bool {
		return func(pattern string) bool {
			ok, err := path.Match(pattern, subject)
			return ok && err == nil
		}
	}
	return slices.ContainsFunc(ig.anchored, fits(name)) ||
		slices.ContainsFunc(ig.names, fits(base)) ||
		isDir && slices.ContainsFunc(ig.folders, fits(base))
}
