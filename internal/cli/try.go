package cli
import "github.com/spf13/cobra"
func (a *app) tryCommand() *cobra.Command { return &cobra.Command{Use:"try"} }
