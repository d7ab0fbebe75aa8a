package arch

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
)

// The maximum file lengths, in lines of code without comments and blank lines.
const (
	MaxFileLines = 500
	MaxTestLines = 800
)

// CheckSizes finds Go files that exceed the maximum length.
func CheckSizes(tree *Tree) []Finding {
	var findings []Finding
	for _, f := range tree.Files {
		if !f.IsGo() || f.inTestdata() {
			continue
		}
		limit := MaxFileLines
		if f.IsTest() {
			limit = MaxTestLines
		}
		if lines := codeLines(f.Src); lines > limit {
			text := fmt.Sprintf("%d lines without comments and blanks, more than %d; split it by noun", lines, limit)
			findings = append(findings, Finding{Path: f.Path, Text: text})
		}
	}
	return findings
}

// codeLines returns the number of lines that contain a token.
func codeLines(src []byte) int {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	count, last := 0, 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return count
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue // inserted by the scanner
		}
		first := file.Line(pos)
		end := first + strings.Count(lit, "\n")
		count += end - max(first, last+1) + 1
		last = end
	}
}

// MaxRoomLines is the maximum number of lines of Go in a folder, without tests.
const MaxRoomLines = 2500

// roomSlack is how far the ratchet of a folder may exceed its size, so that small changes need no
// new figure.
const roomSlack = 300

// CheckRoomSizes finds folders that are too long, and outdated ratchets.
func CheckRoomSizes(tree *Tree, ratchets []Ratchet) []Finding {
	sizes := map[string]int{}
	for _, f := range tree.Files {
		if f.IsGo() && !f.IsTest() && !f.inTestdata() {
			sizes[f.Dir()] += codeLines(f.Src)
		}
	}
	return checkRatchets("lines of code", MaxRoomLines, roomSlack, sizes, ratchets)
}
