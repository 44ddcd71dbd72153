"""The templates as Python modules, one each; `teenyc.codegen.compile_templates` writes them."""
