-- SPDX-License-Identifier: MIT
-- Starts `glen lsp` for what glen reads, and colours by tree-sitter where the
-- parsers are installed.  For Neovim 0.6 (Ubuntu 22.04), 0.7 (Debian 12), 0.9
-- (Ubuntu 24.04) and later: a function that a version lacks is not called.
--
-- Before it is loaded, vim.g.glen_path may name the program, and
-- vim.g.glen_target the target whose instructions programs may call.
if vim.g.loaded_glen then
  return
end
vim.g.loaded_glen = 1

local languages = { 'glen', 'glen_rules', 'glen_target', 'glen_sched' }
local clients = {} -- by folder, where vim.lsp.start does not keep them

local function folder_of(file)
  local folder = vim.fn.fnamemodify(file, ':p:h')
  local git = vim.fn.finddir('.git', vim.fn.escape(folder, ' ') .. ';')
  return git ~= '' and vim.fn.fnamemodify(git, ':p:h:h') or folder
end

local function keys(buffer)
  local function map(from, to)
    vim.api.nvim_buf_set_keymap(buffer, 'n', from, to, { noremap = true, silent = true })
  end
  if vim.fn.has('nvim-0.11') == 0 then
    map('K', '<Cmd>lua vim.lsp.buf.hover()<CR>')
    map('grn', '<Cmd>lua vim.lsp.buf.rename()<CR>')
    map('grr', '<Cmd>lua vim.lsp.buf.references()<CR>')
    map('gra', '<Cmd>lua vim.lsp.buf.code_action()<CR>')
    map('gO', '<Cmd>lua vim.lsp.buf.document_symbol()<CR>')
  end
  map('gd', '<Cmd>lua vim.lsp.buf.definition()<CR>')
end

local function attach(buffer)
  local root = folder_of(vim.api.nvim_buf_get_name(buffer))
  local program = vim.g.glen_path or 'glen'
  if vim.fn.executable(program) == 0 then
    return
  end
  local config = {
    name = 'glen',
    cmd = { program, 'lsp' },
    root_dir = root,
    init_options = { target = vim.g.glen_target },
    get_language_id = function(_, language) return (language:gsub('_', '-')) end,
    on_attach = function(_, number) keys(number) end,
  }
  if vim.lsp.start then
    vim.lsp.start(config)
    return
  end
  clients[root] = clients[root] or vim.lsp.start_client(config)
  if clients[root] then
    vim.lsp.buf_attach_client(buffer, clients[root])
  end
end

-- Parsers are found as parser/glen.so of a folder of the run-time path.
local function colour(buffer, language)
  if #vim.api.nvim_get_runtime_file('parser/' .. language .. '.so', false) == 0 then
    return
  end
  if vim.treesitter.start then
    pcall(vim.treesitter.start, buffer, language)
  else
    local made, parser = pcall(vim.treesitter.get_parser, buffer, language)
    if made then
      vim.treesitter.highlighter.new(parser)
    end
  end
end

function _G.glen_open()
  local buffer = vim.api.nvim_get_current_buf()
  local language = vim.bo.filetype
  if language ~= 'glen_sched' then
    vim.bo.commentstring = '; %s'
    vim.bo.lisp = true
    colour(buffer, language)
  end
  attach(buffer)
end

vim.cmd('augroup glen')
vim.cmd('autocmd!')
vim.cmd('autocmd FileType ' .. table.concat(languages, ',') .. ' lua glen_open()')
vim.cmd('augroup END')
