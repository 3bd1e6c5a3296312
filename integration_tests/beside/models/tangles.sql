select {{ logs() }} as answer
