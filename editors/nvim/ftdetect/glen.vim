" SPDX-License-Identifier: MIT
" The ends of names that glen reads; for Vim and Neovim of any version.
autocmd BufNewFile,BufRead *.glen set filetype=glen
autocmd BufNewFile,BufRead *.rules set filetype=glen_rules
autocmd BufNewFile,BufRead *.target set filetype=glen_target
autocmd BufNewFile,BufRead *.sched set filetype=glen_sched
