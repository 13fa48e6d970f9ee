-- SPDX-License-Identifier: MIT
-- Neovim opens a program with a mistake: the server's finding, a definition and
-- colours must be there.  Ends with an error code otherwise.
local function check(what, holds)
  print((holds and 'ok ' or 'FAIL ') .. what)
  if not holds then
    vim.cmd('cquit')
  end
end

local function wait_for(what, condition)
  check(what, vim.wait(20000, condition, 50))
end

vim.cmd('edit mistake.glen')
check('the type of the file', vim.bo.filetype == 'glen')
check('comments', vim.bo.commentstring == '; %s')
wait_for('a client', function() return #vim.lsp.buf_get_clients(0) == 1 end)
wait_for('a finding', function() return #vim.diagnostic.get(0) == 1 end)
local finding = vim.diagnostic.get(0)[1]
check('its code', finding.code == 'unknown-compute' and finding.lnum == 1)

vim.api.nvim_win_set_cursor(0, { 3, 8 })
vim.lsp.buf.definition()
wait_for('the definition', function()
  return vim.api.nvim_win_get_cursor(0)[1] == 2
end)

-- Without a parser the syntax file has the colours.
if #vim.api.nvim_get_runtime_file('parser/glen.so', false) == 0 then
  local group = vim.fn.synIDattr(vim.fn.synID(1, 2, 1), 'name')
  check('a head of the syntax file', group == 'glenHead')
else
  local parser = vim.treesitter.get_parser(0, 'glen')
  local get = vim.treesitter.query and vim.treesitter.query.get or
    vim.treesitter.get_query
  local found = {}
  local query = get('glen', 'highlights')
  for id, node in query:iter_captures(parser:parse()[1]:root(), 0, 0, -1) do
    local row, column = node:start()
    found[row .. ':' .. column] = query.captures[id]
  end
  check('a keyword of the parser', found['0:1'] == 'keyword')
  check('a name of the parser', found['0:8'] == 'variable')
  check('a type of the parser', found['0:20'] == 'type.builtin')
  check('an operator of the parser', found['1:16'] == 'function')
end
vim.cmd('qall!')
