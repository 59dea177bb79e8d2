-- Starts the server in Neovim 0.7 or later, prints the diagnostics, makes the preferred fix, writes the file and ends.
local function finish(text, status)
  io.stdout:write(text .. "\n")
  vim.cmd(status == 0 and "wall! | qall!" or "cquit " .. status)
end

local function wait_for(count)
  return vim.wait(20000, function() return #vim.diagnostic.get(0) == count end, 20)
end

local client = vim.lsp.start_client({ name = "oomph", cmd = { vim.env.OOMPH, "lint", "--lsp" }, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, client)
if not wait_for(1) then finish("no diagnostic", 1) end
local found = vim.diagnostic.get(0)[1]
io.stdout:write(("diagnostic %d %s\n"):format(found.lnum, found.code))

local range = { start = { line = found.lnum, character = found.col }, ["end"] = { line = found.lnum, character = found.col } }
local params = { textDocument = vim.lsp.util.make_text_document_params(0), range = range, context = { diagnostics = {} } }
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 20000)
local fixed = 0
for _, action in ipairs(answers[client].result) do
  if action.isPreferred then
    vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(client).offset_encoding)
    fixed = fixed + 1
  end
end
io.stdout:write(("fixed %d\n"):format(fixed))
wait_for(0)
finish(("left %d"):format(#vim.diagnostic.get(0)), 0)
