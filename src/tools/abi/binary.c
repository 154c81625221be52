/* binary.c - reads an ELF file's debug information. */
#include "binary.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <string.h>

#include "binary_type.h"

/* ---- The file -------------------------------------------------------------------------------------------------------- */

static const struct {
  int machine, class;
  const char *target;
} machines[] = {
    {EM_X86_64, ELFCLASS64, "x86_64-linux"},
    {EM_386, ELFCLASS32, "i386-linux"},
    {EM_ARM, ELFCLASS32, "armv7-linux"},
    {EM_AARCH64, ELFCLASS64, "aarch64-linux"},
};

static const abi_target *target_of(const GElf_Ehdr *header) {
  int class = header->e_ident[EI_CLASS];
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (machines[i].machine == header->e_machine && machines[i].class == class)
      return abi_target_named(machines[i].target);
  return abi_target_named(pool_format("elf%d-machine%u", class == ELFCLASS64 ? 64 : 32, header->e_machine));
}

static bool is_exported(const GElf_Sym *symbol) {
  unsigned type = GELF_ST_TYPE(symbol->st_info), bind = GELF_ST_BIND(symbol->st_info);
  unsigned visibility = GELF_ST_VISIBILITY(symbol->st_other);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && bind != STB_LOCAL && symbol->st_shndx != SHN_UNDEF &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

/* Names of exported functions, numbered. */
static void read_exports(Elf *elf, pool_map *out) {
  GElf_Ehdr header;
  Elf_Scn *section = NULL;
  if (!gelf_getehdr(elf, &header)) return;
  unsigned wanted = header.e_type == ET_REL ? SHT_SYMTAB : SHT_DYNSYM;
  while ((section = elf_nextscn(elf, section)) != NULL) {
    GElf_Shdr table;
    if (!gelf_getshdr(section, &table) || table.sh_type != wanted || !table.sh_entsize) continue;
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
      const char *name = is_exported(&symbol) ? elf_strptr(elf, table.sh_link, symbol.st_name) : NULL;
      if (name && *name) pool_put(out, pool_copy(name, strlen(name)), out->count);
    }
  }
}

/* ---- The functions --------------------------------------------------------------------------------------------------- */

static bool has_flag(Dwarf_Die *die, unsigned name) {
  Dwarf_Attribute attribute;
  bool flag;
  return dwarf_attr_integrate(die, name, &attribute) && dwarf_formflag(&attribute, &flag) == 0 && flag;
}

/* The symbol's name: another than the function's when it has an assembler name, or is of C++. */
static const char *symbol_of(Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  const char *name = dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
  if (!name) name = dwarf_diename(die);
  return name && *name ? pool_copy(name, strlen(name)) : NULL;
}

static bool is_c(Dwarf_Die *unit) {
  switch (dwarf_srclang(unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
      return true;
    default:
      return false;
  }
}

/* Functions of C only: `_Z` begins what C++ has mangled. */
static void read_unit(binary *b, Dwarf_Die *unit, const pool_map *exports) {
  Dwarf_Die die;
  bool prototypes_matter = is_c(unit);
  if (dwarf_child(unit, &die) != 0) return;
  do {
    if (dwarf_tag(&die) != DW_TAG_subprogram || has_flag(&die, DW_AT_declaration)) continue;
    const char *symbol = symbol_of(&die);
    if (!symbol || !strncmp(symbol, "_Z", 2) || pool_find(exports, symbol) == POOL_NONE) continue;
    binary_add_function(b, &die, &die, symbol, false, !prototypes_matter || has_flag(&die, DW_AT_prototyped));
  } while (binary_next(&die));
}

/* How many units had something in them. */
static size_t read_units(binary *b, Dwarf *dwarf, const pool_map *exports) {
  Dwarf_CU *unit = NULL;
  Dwarf_Die die, split;
  uint8_t type;
  size_t count = 0;
  while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
    bool is_split = type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit;
    read_unit(b, is_split ? &split : &die, exports);
    if (type != DW_UT_skeleton || is_split) count++;
  }
  return count;
}

static bool read_dwarf(Dwfl_Module *module, abi_interface *out, size_t *out_unread, const char **out_error) {
  GElf_Addr bias;
  GElf_Ehdr header;
  Elf *elf = dwfl_module_getelf(module, &bias);
  if (!elf || !gelf_getehdr(elf, &header))
    return *out_error = pool_format("it can't be read: %s", dwfl_errmsg(-1)), false;
  if (header.e_type != ET_DYN && header.e_type != ET_REL && header.e_type != ET_EXEC)
    return *out_error = "an ELF file that is neither a library nor an object", false;
  Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
  if (!dwarf) {
    *out_error = pool_format(
        "it has no debug information that can be read (%s): compile it with -g, or give its header", dwfl_errmsg(-1));
    return false;
  }
  pool_map exports = {0};
  binary b = {.out = out, .address_bytes = header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4};
  out->target = target_of(&header);
  read_exports(elf, &exports);
  if (!exports.count) return *out_error = "it exports no function", false;
  size_t units = read_units(&b, dwarf, &exports);
  if (!units) return *out_error = "its debug information is in other files (.dwo), which aren't there", false;
  if (!out->functions.count) {
    *out_error =
        "none of the functions that it exports is in its debug information as a function of C: compile it with -g, "
        "or give its header";
    return false;
  }
  binary_fill_records(&b);
  size_t callbacks = 0;
  for (size_t i = 0; i < out->functions.count; i++) callbacks += out->functions.items[i].is_callback;
  *out_unread = exports.count - (out->functions.count - callbacks);
  return true;
}

typedef struct reading {
  abi_interface *out;
  size_t *unread;
  const char **error;
  bool seen, done;
} reading;

static int read_module(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start, void *argument) {
  reading *r = argument;
  (void)data, (void)name, (void)start;
  r->seen = true;
  r->done = read_dwarf(module, r->out, r->unread, r->error);
  return DWARF_CB_ABORT;
}

bool binary_read(const char *path, abi_interface *out, size_t *out_unread, const char **out_error) {
  static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo,
                                           .section_address = dwfl_offline_section_address};
  reading r = {.out = out, .unread = out_unread, .error = out_error};
  Dwfl *dwfl = dwfl_begin(&callbacks);
  if (!dwfl) return *out_error = pool_format("libdw: %s", dwfl_errmsg(-1)), false;
  dwfl_report_begin(dwfl);
  if (!dwfl_report_offline(dwfl, path, path, -1))
    *out_error = pool_format("a damaged ELF file: %s", dwfl_errmsg(-1));
  else if (dwfl_report_end(dwfl, NULL, NULL) != 0 || dwfl_getmodules(dwfl, read_module, &r, 0) < 0 || !r.seen)
    *out_error = pool_format("a damaged ELF file: %s", dwfl_errmsg(-1));
  dwfl_end(dwfl);
  return r.done;
}
