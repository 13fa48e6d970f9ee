/* SPDX-License-Identifier: MIT */
/* generated.c - functions of shells that ask the program what may be typed
 * (cli_complete.c), so that all three know the same. */
#include "cli/options_table.h"

#include <string.h>

/* COMP_WORDS are cut at `=`; what a function of files gives is cut to the ends
 * that are wanted, and folders. */
static const char bash[] =
    "_glen() {\n"
    "  local line file suffix kind= suffixes= now=${COMP_WORDS[COMP_CWORD]}\n"
    "  local program=${COMP_WORDS[0]/#\\~/$HOME}\n"
    "  [ \"$now\" = = ] && now=\n"
    "  COMPREPLY=()\n"
    "  while IFS= read -r line; do\n"
    "    case $line in\n"
    "    :*) kind=${line%% *}; suffixes=${line#\"$kind\"} ;;\n"
    "    *) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
    "    esac\n"
    "  done < <(\"$program\" completions words -- "
    "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "  case ${COMPREPLY[0]-} in *=) compopt -o nospace 2>/dev/null ;; esac\n"
    "  [ -n \"$kind\" ] || return 0\n"
    "  compopt -o filenames 2>/dev/null\n"
    "  while IFS= read -r file; do\n"
    "    if [ -d \"$file\" ] || [ \"$kind$suffixes\" = :files ]; then\n"
    "      COMPREPLY+=(\"$file\")\n"
    "    elif [ \"$kind\" = :files ]; then\n"
    "      for suffix in $suffixes; do\n"
    "        case $file in *\"$suffix\") COMPREPLY+=(\"$file\") ;; esac\n"
    "      done\n"
    "    fi\n"
    "  done < <(compgen -f -- \"$now\")\n"
    "}\n"
    "complete -F _glen glen\n";

static const char zsh[] =
    "#compdef glen\n"
    "_glen() {\n"
    "  local line kind name\n"
    "  local -a found suffixes\n"
    "  while IFS= read -r line; do\n"
    "    case $line in\n"
    "    :*) kind=${line%% *}; suffixes=(${=line#$kind}) ;;\n"
    "    *) name=${line%%$'\\t'*}\n"
    "       [[ $line = *$'\\t'* ]] && line=:${line#*$'\\t'} || line=\n"
    "       found+=(\"${name//:/\\\\:}$line\") ;;\n"
    "    esac\n"
    "  done < <(\"${words[1]/#\\~/$HOME}\" completions words -- "
    "\"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
    "  (( $#found )) && _describe glen found\n"
    "  case $kind in\n"
    "  :files) if (( $#suffixes )); then _files -g \"*(${(j:|:)suffixes})\"\n"
    "          else _files; fi ;;\n"
    "  :folders) _files -/ ;;\n"
    "  esac\n"
    "}\n"
    "_glen \"$@\"\n";

static const char fish[] =
    "function __glen_complete\n"
    "  set -l words (commandline -opc)\n"
    "  set -l now (commandline -ct)\n"
    "  for line in (command $words[1] completions words -- $words[2..-1] "
    "\"$now\" 2>/dev/null)\n"
    "    set -l kind (string split ' ' -- $line)\n"
    "    if not string match -q ':*' -- $line\n"
    "      echo $line\n"
    "      continue\n"
    "    end\n"
    "    for path in (__fish_complete_path \"$now\")\n"
    "      set -l file (string split \\t -- $path)[1]\n"
    "      if string match -q '*/' -- $file\n"
    "        echo $file\n"
    "      else if test $kind[1] = :files\n"
    "        test (count $kind) = 1; and echo $file\n"
    "        for suffix in $kind[2..-1]\n"
    "          string match -q -- \"*$suffix\" $file; and echo $file\n"
    "        end\n"
    "      end\n"
    "    end\n"
    "  end\n"
    "end\n"
    "complete -c glen -f -a '(__glen_complete)'\n";

bool
cl_print_generated(FILE *out, const char *shell) {
  static const struct {
    const char *name, *text;
  } forms[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (!strcmp(shell, forms[i].name)) {
      fputs(forms[i].text, out);
      return true;
    }
  return false;
}
