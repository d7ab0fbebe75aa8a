package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// MaxMethods is the maximum number of methods of a type, including those of embedded types.
const MaxMethods = 40

// CheckMethods finds types with too many methods, and outdated ratchets.
func CheckMethods(tree *Tree, ratchets []Ratchet) ([]Finding, error) {
	types, err := readTypes(tree)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int{}
	for name := range types {
		sizes[name] = len(types.methods(name))
	}
	return checkRatchets("methods", MaxMethods, 0, sizes, ratchets), nil
}

// typeSet maps "folder.Name" to the types that have methods or embed a type.
type typeSet map[string]*typeDecl

// typeDecl holds the parts of a type declaration that determine its methods.
type typeDecl struct {
	own      []string
	embedded []string // keys of typeSet; types of other modules are not in it
}

// methods returns the names of the method set of a pointer to a type.
func (s typeSet) methods(name string) map[string]bool {
	all := map[string]bool{}
	s.collect(name, all, map[string]bool{})
	return all
}

func (s typeSet) collect(name string, into, seen map[string]bool) {
	decl := s[name]
	if decl == nil || seen[name] {
		return
	}
	seen[name] = true
	for _, method := range decl.own {
		into[method] = true
	}
	for _, e := range decl.embedded {
		s.collect(e, into, seen)
	}
}

func (s typeSet) at(name string) *typeDecl {
	if s[name] == nil {
		s[name] = &typeDecl{}
	}
	return s[name]
}

// readTypes reads the types of all Go files except tests.
func readTypes(tree *Tree) (typeSet, error) {
	types := typeSet{}
	for _, f := range tree.Files {
		if !f.IsGo() || f.IsTest() || f.inTestdata() {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Src, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", f.Path, err)
		}
		types.read(f.Dir(), parsed)
	}
	return types, nil
}

func (s typeSet) read(dir string, file *ast.File) {
	imports := moduleImports(file)
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && len(d.Recv.List) == 1 {
				of := s.at(typeName(dir, imports, d.Recv.List[0].Type))
				of.own = append(of.own, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					s.readType(dir, imports, t)
				}
			}
		}
	}
}

// readType adds the embedded types of a declaration, and the methods of an interface.
func (s typeSet) readType(dir string, imports map[string]string, t *ast.TypeSpec) {
	decl := s.at(dir + "." + t.Name.Name)
	var fields *ast.FieldList
	switch of := t.Type.(type) {
	case *ast.StructType:
		fields = of.Fields
	case *ast.InterfaceType:
		fields = of.Methods
	default:
		if t.Assign.IsValid() {
			decl.embedded = append(decl.embedded, typeName(dir, imports, t.Type))
		}
		return
	}
	for _, field := range fields.List {
		if len(field.Names) == 0 {
			decl.embedded = append(decl.embedded, typeName(dir, imports, field.Type))
			continue
		}
		if _, isInterface := t.Type.(*ast.InterfaceType); isInterface {
			for _, name := range field.Names {
				decl.own = append(decl.own, name.Name)
			}
		}
	}
}

// moduleImports returns the folders of the packages of this module that a file imports, by their
// names in the file.
func moduleImports(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		dir, ours := strings.CutPrefix(full, Module+"/")
		if err != nil || !ours {
			continue
		}
		name := path.Base(dir)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = dir
	}
	return imports
}

// typeName returns the typeSet key of a type expression, without pointers and type arguments. The
// key of a type of another module is in no typeSet.
func typeName(dir string, imports map[string]string, of ast.Expr) string {
	switch e := of.(type) {
	case *ast.Ident:
		return dir + "." + e.Name
	case *ast.StarExpr:
		return typeName(dir, imports, e.X)
	case *ast.ParenExpr:
		return typeName(dir, imports, e.X)
	case *ast.IndexExpr:
		return typeName(dir, imports, e.X)
	case *ast.IndexListExpr:
		return typeName(dir, imports, e.X)
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok {
			return imports[pkg.Name] + "." + e.Sel.Name
		}
	}
	return ""
}
